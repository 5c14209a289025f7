#include "model/workspace.h"

#include "base/carver.h"
#include "kernels/kernels.h"
#include "model/best_scores.h"

#include <algorithm>
#include <utility>

namespace colibri {
namespace {

// How many entries a query can be given.
struct Entries {
  bool chosen = false;      ///< some layers choose
  bool restricted = false;  ///< some choose among candidates
  int all = 0;              ///< most entries of a layer that does not choose
  int most = 0;             ///< most entries of any layer
};

Entries entriesOf(const LayerPlan& plan, int context) {
  Entries entries;
  for (const LayerSpec& spec : plan.layers) {
    if (spec.ratio == 0) continue;
    entries.most = std::max(entries.most, context / spec.ratio);
    if (spec.indexSource < 0) entries.all = std::max(entries.all, context / spec.ratio);
    entries.chosen = entries.chosen || spec.indexSource >= 0;
    entries.restricted = entries.restricted || spec.candidates == CandidateRole::kRestricted;
  }
  return entries;
}

}  // namespace

std::uint64_t Workspace::carve(std::byte* base, const ModelConfig& c, const LayerPlan& plan) {
  Carver carver(base);
  const auto n = static_cast<std::size_t>(limits.chunk);
  const auto threads = static_cast<std::size_t>(limits.threads);
  const auto d = static_cast<std::size_t>(c.hiddenSize);
  const auto m = static_cast<std::size_t>(c.hcMult);
  const auto heads = static_cast<std::size_t>(c.heads) * c.headDim;
  const auto k = static_cast<std::size_t>(c.expertsPerToken);
  const auto intermediate = static_cast<std::size_t>(c.moeIntermediate);
  const auto segment = static_cast<std::size_t>(limits.segment);
  const auto topK = static_cast<std::size_t>(c.indexTopK);
  const Entries entries = entriesOf(plan, limits.context);
  const bool packed = limits.numerics == Numerics::kVendor;

  carver.take(streams, segment * m * d);
  carver.take(streamsNext, n * m * d);
  carver.take(mixes, n * (2 + m) * m);
  carver.take(pre, n * m);
  if (plan.laggedMix) carver.take(carriedMix, segment * m);
  carver.take(post, n * m);
  carver.take(comb, n * m * m);
  carver.take(hidden, n * d);
  carver.take(quantised, n * d);
  carver.take(sublayer, n * d);
  carver.take(qLora, n * c.qLoraRank);
  carver.take(qLoraQuantised, n * c.qLoraRank);
  carver.take(query, n * heads);
  carver.take(attended, n * heads);
  carver.take(grouped, n * c.oGroups * c.oLoraRank);
  carver.take(window, (static_cast<std::size_t>(c.slidingWindow) - 1 + n) * c.headDim);
  const auto widest = 2 * static_cast<std::size_t>(std::max(c.headDim, c.indexHeadDim));
  carver.take(compressValues, n * widest);
  carver.take(compressScores, n * widest);
  carver.take(indexQuery, n * c.indexHeads * c.indexHeadDim);
  carver.take(indexWeight, n * c.indexHeads);
  if (entries.chosen) {
    carver.take(indexScore, threads * kScoreBlock);
    carver.take(indexScratch, threads * static_cast<std::size_t>(c.indexHeadDim));
    bestStride = BestScores::roomFor(c.indexTopK) + BestScores::roomFor(c.candidateBlocks);
    carver.take(best, threads * bestStride);
    carver.take(choice, segment * topK);
    if (packed) carver.take(entryRows, threads * topK * static_cast<std::size_t>(c.headDim));
  }
  // With no more entries than the candidates hold, all are candidates.
  if (entries.restricted && entries.most > static_cast<std::int64_t>(c.candidateBlocks) * c.candidateBlockSize) {
    carver.take(candidates, segment * static_cast<std::size_t>(c.candidateBlocks));
    carver.take(candidateCount, segment);
  }
  if (packed) carver.take(allEntries, static_cast<std::size_t>(entries.all) * static_cast<std::size_t>(c.headDim));
  carver.take(entry, static_cast<std::size_t>(c.headDim));
  carver.take(indexKey, static_cast<std::size_t>(c.indexHeadDim));
  keysStride = c.slidingWindow + std::max(entries.chosen ? c.indexTopK : 0, entries.all);
  carver.take(keys, threads * static_cast<std::size_t>(keysStride));
  carver.take(attentionScratch, threads * static_cast<std::size_t>(keysStride));
  if (c.engram.present()) {
    const auto columns = static_cast<std::size_t>(c.engram.columns());
    carver.take(engramIds, segment * c.engram.layers.size() * columns);
    carver.take(engramBlock, kEngramRows * columns);
    carver.take(engramValues, kEngramRows * columns * static_cast<std::size_t>(c.engram.headDim));
    carver.take(engramKeys, kEngramRows * (m + 1) * d);
  }
  carver.take(cosines, 2 * n * (c.ropeDim / 2));
  carver.take(sines, 2 * n * (c.ropeDim / 2));
  carver.take(routerLogits, n * mostExperts);
  carver.take(routerBiased, static_cast<std::size_t>(mostExperts));
  carver.take(routerIds, n * k);
  carver.take(routerWeights, n * k);
  preparedStride = fp4PreparedBytes(c.hiddenSize);
  preparedHiddenStride = fp4PreparedBytes(c.moeIntermediate);
  carver.take(prepared, n * preparedStride);
  carver.take(preparedGather, n * preparedStride);
  carver.take(preparedHidden, n * preparedHiddenStride);
  carver.take(gathered, n * d);
  carver.take(gate, n * intermediate);
  carver.take(up, n * intermediate);
  carver.take(activated, n * intermediate);
  carver.take(expertOut, n * k * d);
  carver.take(expertRows, n * d);
  carver.take(rowWeights, n * k);
  carver.take(sumOrder, k);
  linearScratchStride = std::max(
      {c.hiddenSize, c.qLoraRank, c.heads * c.headDim / c.oGroups, c.oGroups * c.oLoraRank, c.moeIntermediate});
  carver.take(linearScratch, threads * linearScratchStride);
  return carver.used();
}

std::uint64_t Workspace::bytes(const ModelConfig& config, const LayerPlan& plan, const WorkspaceLimits& limits,
                               int mostExperts) {
  Workspace counting;
  counting.limits = limits;
  counting.mostExperts = mostExperts;
  return counting.carve(nullptr, config, plan);
}

Result<std::unique_ptr<Workspace>> Workspace::create(const ModelConfig& config, const LayerPlan& plan,
                                                     const WorkspaceLimits& limits, int mostExperts,
                                                     std::shared_ptr<Ledger> ledger) {
  auto workspace = std::make_unique<Workspace>();
  workspace->limits = limits;
  workspace->mostExperts = mostExperts;
  COLIBRI_ASSIGN_OR_RETURN(workspace->m_buffer, Buffer::allocate(bytes(config, plan, limits, mostExperts),
                                                                 MemoryTag::kScratch, std::move(ledger)));
  workspace->carve(workspace->m_buffer.data(), config, plan);
  return workspace;
}

}  // namespace colibri

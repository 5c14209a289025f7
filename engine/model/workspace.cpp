#include "model/workspace.h"

#include "kernels/kernels.h"

#include <algorithm>
#include <utility>

namespace colibri {
namespace {

class Carver {
public:
  explicit Carver(std::byte* base) : m_base(base) {}
  template <typename T>
  void take(T*& target, std::size_t count) {
    target = m_base == nullptr ? nullptr : reinterpret_cast<T*>(m_base + m_used);
    m_used += (count * sizeof(T) + 63) / 64 * 64;
  }
  [[nodiscard]] std::uint64_t used() const { return m_used; }

private:
  std::byte* m_base;
  std::uint64_t m_used = 0;
};

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
  int shortestRatio = 0;
  for (const LayerSpec& spec : plan.layers) {
    if (spec.ratio != 0 && !spec.indexer)
      shortestRatio = shortestRatio == 0 ? spec.ratio : std::min(shortestRatio, spec.ratio);
  }
  const int denseEntries = shortestRatio == 0 ? 0 : limits.context / shortestRatio;

  carver.take(streams, static_cast<std::size_t>(limits.segment) * m * d);
  carver.take(streamsNext, n * m * d);
  carver.take(mixes, n * (2 + m) * m);
  carver.take(pre, n * m);
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
  carver.take(indexScore, threads * static_cast<std::size_t>(limits.context / 4 + 1));
  carver.take(indexChoice, n * c.indexTopK);
  keysStride = c.slidingWindow + std::max(c.indexTopK, denseEntries);
  carver.take(keys, threads * keysStride);
  carver.take(attentionScratch, threads * keysStride);
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

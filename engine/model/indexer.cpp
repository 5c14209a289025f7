#include "model/indexer.h"

#include "model/best_scores.h"
#include "model/linear.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace colibri {
namespace {

void prepareQueries(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
                    const float* x, const float* qLora) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int width = c.indexHeads * c.indexHeadDim;
  linear(model, qLora, pass.rows, c.qLoraRank, weights.indexWqB, w.indexQuery, width, Rounding::kBf16);
  linear(model, x, pass.rows, c.hiddenSize, weights.indexWeights, w.indexWeight, c.indexHeads, Rounding::kBf16);
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.indexHeadDim)) /
                                        std::sqrt(static_cast<double>(c.indexHeads)));
  model.team.run(pass.rows, static_cast<std::int64_t>(pass.rows) * width * 16, [&](int row, int) {
    float* weight = w.indexWeight + static_cast<std::ptrdiff_t>(row) * c.indexHeads;
    for (int head = 0; head < c.indexHeads; ++head) weight[head] *= scale;
    roundVendor(model, weight, c.indexHeads);
    for (int head = 0; head < c.indexHeads; ++head) {
      float* q =
          w.indexQuery + static_cast<std::ptrdiff_t>(row) * width + static_cast<std::ptrdiff_t>(head) * c.indexHeadDim;
      rotate(model, spec.rope, row, q, c.indexHeadDim, false);
      if (model.plan.indexHadamard) {
        model.kernels.hadamard(q, c.indexHeadDim);
        roundVendor(model, q, c.indexHeadDim);
      }
      if (model.vendor()) model.kernels.qdqE2m1(q, q, c.indexHeadDim);
    }
  });
}

// The layer whose index keys a row is scored against (spec deepseek-v41 4.3).
int keysOf(const ModelContext& model, const Pass& pass, int layer, int row) {
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(layer)];
  if (pass.phase == Phase::kPrefill || model.indexKeys == IndexKeyRule::kOwner) return spec.kvSource;
  const int publisher = model.plan.publisher(layer, pass.position + row);
  return publisher < 0 ? spec.kvSource : publisher;
}

// Scores of one query against keys of one cache, a block at a time.
class Scorer {
public:
  Scorer(const ModelContext& model, const SequenceState& state, int keysLayer, int row, int thread)
      : m_model(model),
        m_format(state.formats().indexKey),
        m_keys(state.layer(keysLayer).indexKeys),
        m_scores(model.work.indexScore + static_cast<std::ptrdiff_t>(thread) * kScoreBlock) {
    const ModelConfig& c = model.config;
    m_query = model.work.indexQuery + static_cast<std::ptrdiff_t>(row) * c.indexHeads * c.indexHeadDim;
    m_weight = model.work.indexWeight + static_cast<std::ptrdiff_t>(row) * c.indexHeads;
    m_scratch = model.work.indexScratch + static_cast<std::ptrdiff_t>(thread) * c.indexHeadDim;
  }

  // Scores of entries [first, first + count), count <= kScoreBlock; valid until the next call.
  const float* score(int first, int count) {
    const ModelConfig& c = m_model.config;
    const std::byte* rows = m_keys + static_cast<std::size_t>(first) * m_format.bytes();
    if (m_format.isFloat()) {
      m_model.kernels.indexScores(m_query, m_weight, c.indexHeads, c.indexHeadDim, reinterpret_cast<const float*>(rows),
                                  count, m_model.vendor(), m_scores);
    } else {
      m_model.kernels.indexScoresPacked(
          m_query, m_weight, c.indexHeads, c.indexHeadDim, reinterpret_cast<const std::uint8_t*>(rows),
          static_cast<std::ptrdiff_t>(m_format.bytes()), count, m_model.vendor(), m_scores, m_scratch);
    }
    return m_scores;
  }

private:
  const ModelContext& m_model;
  const RowFormat& m_format;
  const std::byte* m_keys;
  float* m_scores;
  const float* m_query = nullptr;
  const float* m_weight = nullptr;
  float* m_scratch = nullptr;
};

void addScores(BestScores& best, const float* scores, int first, int count) {
  for (int i = 0; i < count; ++i) best.add(scores[i], static_cast<std::uint32_t>(first + i));
}

// The best blocks of a query's entries, which come one after another. The last block, which holds the newest entry, is
// always among them.
class BlockChooser {
public:
  BlockChooser(std::uint64_t* room, int blocks, int blockSize, int visible)
      : m_best(room, blocks), m_size(blockSize), m_visible(visible), m_last((visible - 1) / blockSize) {}

  void add(const float* scores, int first, int count) {
    for (int i = 0; i < count; ++i) {
      m_highest = std::max(m_highest, scores[i]);
      const int end = first + i + 1;
      if (end % m_size != 0 && end != m_visible) continue;
      const int block = (end - 1) / m_size;
      m_best.add(block == m_last ? std::numeric_limits<float>::infinity() : m_highest,
                 static_cast<std::uint32_t>(block));
      m_highest = -std::numeric_limits<float>::infinity();
    }
  }
  int take(std::int32_t* blocks) { return m_best.takeAscending(blocks); }

private:
  BestScores m_best;
  int m_size;
  int m_visible;
  int m_last;
  float m_highest = -std::numeric_limits<float>::infinity();
};

// `blocks` may be null.
void scoreVisible(BestScores& best, BlockChooser* blocks, Scorer& scorer, int visible) {
  for (int first = 0; first < visible; first += kScoreBlock) {
    const int count = std::min(kScoreBlock, visible - first);
    const float* scores = scorer.score(first, count);
    addScores(best, scores, first, count);
    if (blocks != nullptr) blocks->add(scores, first, count);
  }
}

void scoreCandidates(const ModelConfig& c, BestScores& best, Scorer& scorer, int visible, const std::int32_t* blocks,
                     int count) {
  for (int i = 0; i < count; ++i) {
    const int end = std::min(visible, (blocks[i] + 1) * c.candidateBlockSize);
    for (int first = blocks[i] * c.candidateBlockSize; first < end; first += kScoreBlock) {
      const int length = std::min(kScoreBlock, end - first);
      addScores(best, scorer.score(first, length), first, length);
    }
  }
}

}  // namespace

void chooseEntries(const ModelContext& model, const Pass& pass, int layer, const SequenceState& state, const float* x,
                   const float* qLora) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(layer)];
  const auto visible = [&](int row) { return (pass.position + row + 1) / spec.ratio; };
  const int most = visible(pass.rows - 1);
  // What can be seen as a whole needs no scores, neither for this layer nor, in blocks, for those above.
  const bool scoring = most > c.indexTopK;
  if (scoring) prepareQueries(model, pass, spec, model.weights.layers[static_cast<std::size_t>(layer)], x, qLora);
  const std::int64_t work = static_cast<std::int64_t>(pass.rows) * most * c.indexHeads * c.indexHeadDim;
  model.team.run(pass.rows, scoring ? work : 0, [&](int row, int thread) {
    const int count = visible(row);
    const std::ptrdiff_t segmentRow = pass.first + row;
    std::int32_t* choice = w.choice + segmentRow * c.indexTopK;
    std::int32_t* blocks = w.candidates == nullptr ? nullptr : w.candidates + segmentRow * c.candidateBlocks;
    const bool choosesBlocks = spec.candidates == CandidateRole::kChooses && blocks != nullptr;
    if (choosesBlocks) w.candidateCount[segmentRow] = -1;
    int chosen = count;
    if (count <= c.indexTopK) {
      for (int i = 0; i < chosen; ++i) choice[i] = i;
    } else {
      std::uint64_t* room = w.best + static_cast<std::size_t>(thread) * w.bestStride;
      Scorer scorer(model, state, keysOf(model, pass, layer, row), row, thread);
      BestScores best(room, c.indexTopK);
      if (choosesBlocks && count > static_cast<std::int64_t>(c.candidateBlocks) * c.candidateBlockSize) {
        BlockChooser chooser(room + BestScores::roomFor(c.indexTopK), c.candidateBlocks, c.candidateBlockSize, count);
        scoreVisible(best, &chooser, scorer, count);
        w.candidateCount[segmentRow] = chooser.take(blocks);
      } else if (spec.candidates == CandidateRole::kRestricted && blocks != nullptr &&
                 w.candidateCount[segmentRow] >= 0) {
        scoreCandidates(c, best, scorer, count, blocks, w.candidateCount[segmentRow]);
      } else {
        scoreVisible(best, nullptr, scorer, count);
      }
      chosen = best.takeBestFirst(choice);
    }
    std::fill(choice + chosen, choice + c.indexTopK, -1);
  });
}

}  // namespace colibri

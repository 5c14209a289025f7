#pragma once
// From an image's patches to the rows that stand for it in the language model: tower (spec deepseek-v41 6.2) and
// aligner (6.3). Results depend neither on the number of threads nor on the instruction set.

#include "base/buffer.h"
#include "base/ledger.h"
#include "model/vision_pass.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace colibri {

/// Patches of one image, row-major.
struct PatchGrid {
  int rows = 0;
  int columns = 0;
  [[nodiscard]] int count() const { return rows * columns; }
};

/// What comes out.
struct VisionRows {
  std::vector<float> tower;    ///< [patches][w] after the last norm; filled only when asked for
  std::vector<float> aligner;  ///< [ceil(rows/downsample) * ceil(columns/downsample)][D], reading order
};

/// Memory of one image's pass: activations of all patches, and scratch of each thread. Made for one grid.
class VisionTower {
public:
  /// kMemory when the buffers (charged to kVision) cannot be had.
  static Result<VisionTower> create(const VisionModel& model, PatchGrid grid, std::shared_ptr<Ledger> ledger);
  /// Bytes that create() takes for such a grid.
  [[nodiscard]] static std::uint64_t bytesNeeded(const VisionConfig& config, int hiddenSize, PatchGrid grid,
                                                 int threads);

  /// `patches`: bf16 [grid.count()][3 * patch * patch]. kCancelled within 100 ms.
  Result<VisionRows> run(std::span<const std::uint16_t> patches, const Cancellation& cancellation, bool keepTower);

private:
  VisionTower(const VisionModel& model, PatchGrid grid) : m_model(&model), m_grid(grid) {}

  void embed(const VisionPass& pass, std::span<const std::uint16_t> patches);
  void projectHeads(const VisionPass& pass, const VisionBlockWeights& block);
  void attend(const VisionPass& pass);
  void finishBlock(const VisionPass& pass, const VisionBlockWeights& block);
  void lastNorm(const VisionPass& pass);
  std::vector<float> align(const VisionPass& pass);
  void rotate(float* head, int patch) const;
  /// Calls body(first, count, scratch) for tiles of rows over the team, until the pass is cancelled.
  template <typename Body>
  void forTiles(int rows, int tile, std::int64_t work, const VisionPass& pass, const Body& body) const {
    m_model->team.run((rows + tile - 1) / tile, work, [&](int item, int thread) {
      if (pass.isCancelled()) return;
      const int first = item * tile;
      float* scratch = m_scratch.as<float>() + m_scratchFloats * static_cast<std::size_t>(thread);
      body(first, std::min(tile, rows - first), scratch);
    });
  }

  const VisionModel* m_model;
  PatchGrid m_grid;
  std::vector<float> m_cosines;  ///< [max(rows, columns)][headDim / 4]
  std::vector<float> m_sines;
  std::vector<float> m_ones;  ///< [inner], the up branch of a SiLU alone
  Buffer m_stream;            ///< [patches][w]
  Buffer m_queries;           ///< [patches][w], later what attention gives; the aligner's cells
  Buffer m_keys;              ///< [heads][patches][headDim]; the aligner's inner rows
  Buffer m_values;            ///< [heads][headDim][patches]
  Buffer m_scratch;           ///< [threads][m_scratchFloats]
  std::size_t m_scratchFloats = 0;
};

}  // namespace colibri

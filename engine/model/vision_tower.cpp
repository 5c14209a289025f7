#include "model/vision_tower.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <utility>

namespace colibri {
namespace {

constexpr float kNormEps = 1e-6F;
/// Rows of one work item: enough that the weights, which every item streams, are not what it waits for.
constexpr int kTile = 32;
/// Queries of one work item: their scores against all patches stay in the second-level cache.
constexpr int kQueries = 16;

std::size_t product(std::initializer_list<int> sizes) {
  std::size_t result = 1;
  for (const int size : sizes) result *= static_cast<std::size_t>(size);
  return result;
}

struct Sizes {
  std::size_t stream;
  std::size_t queries;
  std::size_t keys;
  std::size_t scratch;  ///< of a thread

  Sizes(const VisionConfig& c, int hiddenSize, PatchGrid grid) {
    const int cells =
        ((grid.rows + c.downsample - 1) / c.downsample) * ((grid.columns + c.downsample - 1) / c.downsample);
    stream = product({grid.count(), c.width});
    queries = std::max(stream, product({cells, c.downsample, c.downsample, c.width}));
    keys = std::max(stream, product({cells, hiddenSize}));
    const std::size_t pointwise = product({kTile, std::max(3 * c.patch * c.patch, 4 * c.width)});
    const std::size_t mlp = product({kTile, 2 * c.width + 3 * c.inner});
    const std::size_t attention = product({kQueries, grid.count() + c.width / c.heads});
    scratch = std::max({pointwise, mlp, attention});
  }
};

}  // namespace

std::uint64_t VisionTower::bytesNeeded(const VisionConfig& config, int hiddenSize, PatchGrid grid, int threads) {
  const Sizes sizes(config, hiddenSize, grid);
  return sizeof(float) *
         (2 * sizes.stream + sizes.queries + sizes.keys + sizes.scratch * static_cast<std::size_t>(threads));
}

Result<VisionTower> VisionTower::create(const VisionModel& model, PatchGrid grid, std::shared_ptr<Ledger> ledger) {
  VisionTower tower(model, grid);
  const Sizes sizes(model.config, model.hiddenSize, grid);
  const auto allocate = [&ledger](std::size_t floats, Buffer& target) -> Status {
    COLIBRI_ASSIGN_OR_RETURN(target, Buffer::allocate(floats * sizeof(float), MemoryTag::kVision, ledger));
    return Status::ok();
  };
  COLIBRI_RETURN_IF_ERROR(allocate(sizes.stream, tower.m_stream));
  COLIBRI_RETURN_IF_ERROR(allocate(sizes.queries, tower.m_queries));
  COLIBRI_RETURN_IF_ERROR(allocate(sizes.keys, tower.m_keys));
  COLIBRI_RETURN_IF_ERROR(allocate(sizes.stream, tower.m_values));
  tower.m_scratchFloats = sizes.scratch;
  COLIBRI_RETURN_IF_ERROR(allocate(sizes.scratch * static_cast<std::size_t>(model.team.threads()), tower.m_scratch));
  tower.m_ones.assign(static_cast<std::size_t>(model.config.inner), 1.0F);
  const int pairs = model.headDim() / 4;
  RopeParameters rope;
  rope.dims = 2 * pairs;
  rope.base = model.config.ropeTheta;
  std::vector<float> frequencies(static_cast<std::size_t>(pairs));
  ropeFrequencies(rope, frequencies.data());
  const int positions = std::max(grid.rows, grid.columns);
  tower.m_cosines.resize(product({positions, pairs}));
  tower.m_sines.resize(tower.m_cosines.size());
  for (int position = 0; position < positions; ++position) {
    const std::size_t at = product({position, pairs});
    ropeAngles(position, frequencies.data(), pairs, &tower.m_cosines[at], &tower.m_sines[at]);
  }
  return tower;
}

void VisionTower::embed(const VisionPass& pass, std::span<const std::uint16_t> patches) {
  const BiasedMatrix& w = m_model->weights.patches;
  const std::ptrdiff_t in = w.matrix.in;
  const std::ptrdiff_t width = w.matrix.out;
  forTiles(m_grid.count(), kTile, m_grid.count() * in * width, pass, [&](int first, int count, float* scratch) {
    pass.kernels().decodeBf16(patches.data() + first * in, scratch, count * in);
    pass.linear({scratch, count, in}, w, m_stream.as<float>() + first * width, width);
  });
}

void VisionTower::rotate(float* head, int patch) const {
  const int quarter = m_model->headDim() / 4;
  const int places[2] = {patch / m_grid.columns, patch % m_grid.columns};
  float* second = head + 2 * quarter;
  for (const int place : places) {
    const float* cosines = &m_cosines[product({place, quarter})];
    const float* sines = &m_sines[product({place, quarter})];
    for (int i = 0; i < quarter; ++i) {
      const float a = head[i];
      const float b = second[i];
      head[i] = a * cosines[i] - b * sines[i];
      second[i] = b * cosines[i] + a * sines[i];
    }
    head += quarter;
    second += quarter;
  }
}

void VisionTower::projectHeads(const VisionPass& pass, const VisionBlockWeights& block) {
  const int width = m_model->config.width;
  const int headDim = m_model->headDim();
  const int patches = m_grid.count();
  const std::int64_t work = std::int64_t{3} * patches * width * width;
  forTiles(patches, kTile, work, pass, [&](int first, int count, float* normed) {
    float* qkv = normed + product({kTile, width});
    for (int r = 0; r < count; ++r) {
      pass.kernels().rmsNorm(m_stream.as<float>() + product({first + r, width}), block.norm1.data(),
                             normed + product({r, width}), width, kNormEps);
    }
    pass.round(normed, std::ptrdiff_t{count} * width);
    pass.linear({normed, count, width}, block.wqkv, qkv, 3 * std::ptrdiff_t{width});
    for (int r = 0; r < count; ++r) {
      float* row = qkv + product({r, 3 * width});
      const int patch = first + r;
      for (int part = 0; part < 2 * width; part += headDim) rotate(row + part, patch);
      pass.round(row, 2 * std::ptrdiff_t{width});
      std::memcpy(m_queries.as<float>() + product({patch, width}), row, product({width}) * sizeof(float));
      for (int c = 0; c < width; ++c) {
        const int head = c / headDim;
        m_keys.as<float>()[product({head, patches, headDim}) + product({patch, headDim}) +
                           static_cast<std::size_t>(c % headDim)] = row[width + c];
        m_values.as<float>()[product({c, patches}) + static_cast<std::size_t>(patch)] = row[2 * width + c];
      }
    }
  });
}

// Every patch sees every patch. A tile's queries are read before its results are written over them.
void VisionTower::attend(const VisionPass& pass) {
  const int width = m_model->config.width;
  const int headDim = m_model->headDim();
  const int patches = m_grid.count();
  const int tiles = (patches + kQueries - 1) / kQueries;
  const float scale = 1.0F / std::sqrt(static_cast<float>(headDim));
  const std::int64_t work = std::int64_t{2} * patches * patches * width;
  forTiles(tiles * m_model->config.heads, 1, work, pass, [&](int item, int /*count*/, float* scores) {
    const int head = item / tiles;
    const int first = item % tiles * kQueries;
    const int count = std::min(kQueries, patches - first);
    float* sums = scores + product({kQueries, patches});
    float* queries = m_queries.as<float>() + product({first, width}) + product({head, headDim});
    const std::size_t headAt = product({head, patches, headDim});
    const Kernels& k = pass.kernels();
    k.linearF32({queries, count, width}, m_keys.as<float>() + headAt, headDim, {scores, patches, 0, patches});
    float totals[kQueries];
    for (int r = 0; r < count; ++r) {
      float* row = scores + product({r, patches});
      totals[r] = k.softmaxExp(row, scale, patches, row);
    }
    pass.round(scores, std::ptrdiff_t{count} * patches);
    k.linearF32({scores, count, patches}, m_values.as<float>() + headAt, patches, {sums, headDim, 0, headDim});
    for (int r = 0; r < count; ++r) {
      float* out = queries + product({r, width});
      for (int c = 0; c < headDim; ++c) out[c] = sums[product({r, headDim}) + static_cast<std::size_t>(c)] / totals[r];
      pass.round(out, headDim);
    }
  });
}

void VisionTower::finishBlock(const VisionPass& pass, const VisionBlockWeights& block) {
  const int width = m_model->config.width;
  const int inner = m_model->config.inner;
  const int patches = m_grid.count();
  const std::int64_t work = (std::int64_t{width} + 3 * std::int64_t{inner}) * patches * width;
  forTiles(patches, kTile, work, pass, [&](int first, int count, float* normed) {
    const Kernels& k = pass.kernels();
    float* out = normed + product({kTile, width});
    float* branches = out + product({kTile, width});
    float* gated = branches + product({kTile, 2 * inner});
    float* stream = m_stream.as<float>() + product({first, width});
    const std::ptrdiff_t size = std::ptrdiff_t{count} * width;
    const auto addToStream = [&] {
      k.add(out, stream, size);
      pass.round(stream, size);
    };
    pass.linear({m_queries.as<float>() + product({first, width}), count, width}, block.wo, out, width);
    addToStream();
    for (int r = 0; r < count; ++r) {
      const std::size_t at = product({r, width});
      k.rmsNorm(stream + at, block.norm2.data(), normed + at, width, kNormEps);
    }
    pass.round(normed, size);
    pass.linear({normed, count, width}, block.w1, branches, 2 * std::ptrdiff_t{inner});
    for (int r = 0; r < count; ++r) {
      const float* gate = branches + product({r, 2 * inner});
      float* row = gated + product({r, inner});
      // The gate's SiLU is a tensor of its own in the released code, so it is rounded before it meets the up branch.
      k.swiglu(gate, m_ones.data(), inner, 0.0F, 1.0F, row);
      pass.round(row, inner);
      for (int i = 0; i < inner; ++i) row[i] *= gate[inner + i];
      pass.round(row, inner);
    }
    pass.linear({gated, count, inner}, block.w2, out, width);
    addToStream();
  });
}

void VisionTower::lastNorm(const VisionPass& pass) {
  const int width = m_model->config.width;
  const std::int64_t work = std::int64_t{2} * m_grid.count() * width;
  forTiles(m_grid.count(), kTile, work, pass, [&](int first, int count, float* /*scratch*/) {
    for (int r = first; r < first + count; ++r) {
      float* row = m_stream.as<float>() + product({r, width});
      pass.kernels().rmsNorm(row, m_model->weights.norm.data(), row, width, kNormEps);
      pass.round(row, width);
    }
  });
}

Result<VisionRows> VisionTower::run(std::span<const std::uint16_t> patches, const Cancellation& cancellation,
                                    bool keepTower) {
  const VisionPass pass(*m_model, cancellation);
  embed(pass, patches);
  for (const VisionBlockWeights& block : m_model->weights.blocks) {
    projectHeads(pass, block);
    attend(pass);
    finishBlock(pass, block);
    if (pass.isCancelled()) break;
  }
  lastNorm(pass);
  VisionRows rows;
  if (keepTower) {
    const float* stream = m_stream.as<float>();
    rows.tower.assign(stream, stream + product({m_grid.count(), m_model->config.width}));
  }
  rows.aligner = align(pass);
  if (pass.isCancelled()) return Status(Code::kCancelled, "cancelled", "Reading the image was cancelled.");
  return rows;
}

}  // namespace colibri

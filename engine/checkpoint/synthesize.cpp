#include "base/json.h"
#include "checkpoint/index_file.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/synth_presets.h"
#include "checkpoint/synth_values.h"
#include <colibri/checkpoint.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace colibri {
namespace {

struct SynthTensor {
  ExpectedTensor tensor;
  std::uint64_t bytes = 0;
  std::uint64_t inputs = 0;  // of a scale: columns of its weight
};

struct SynthShard {
  std::string name;
  std::vector<SynthTensor> tensors;
  std::uint64_t bytes = 0;
};

// Place of a type in the released shards.
int typeOrder(Dtype dtype) {
  constexpr std::array kOrder = {Dtype::kI64, Dtype::kF32, Dtype::kBf16, Dtype::kF8E8M0, Dtype::kF8E4M3, Dtype::kI8};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), dtype) - kOrder.begin());
}

// As released: image tower, embedding, one shard a layer, norm and head, one shard a draft stage, one an n-gram table.
class ShardOrder {
public:
  explicit ShardOrder(const SynthPlan& plan)
      : m_engram(plan.config.engram.layers),
        m_vision(plan.config.vision.present() ? 1 : 0),
        m_layers(static_cast<std::size_t>(plan.config.layers)),
        m_stages(plan.draft.experts.size()) {}

  [[nodiscard]] std::size_t count() const { return m_vision + m_layers + 2 + m_stages + m_engram.size(); }
  [[nodiscard]] std::size_t of(const std::string& name) const {
    const auto number = [&](std::size_t at) { return static_cast<std::size_t>(std::stoi(name.substr(at))); };
    switch (tensorRole(name)) {
      case TensorRole::kVision:
        return name.starts_with("image_") ? m_vision : 0;
      case TensorRole::kEmbedding:
        return m_vision;
      case TensorRole::kDraft:
        return m_vision + m_layers + 2 + number(4);
      case TensorRole::kEngram: {
        const auto table = std::find(m_engram.begin(), m_engram.end(), static_cast<int>(number(7))) - m_engram.begin();
        return m_vision + m_layers + 2 + m_stages + static_cast<std::size_t>(table);
      }
      default:
        return m_vision + (name.starts_with("layers.") ? 1 + number(7) : m_layers + 1);
    }
  }

private:
  std::vector<int> m_engram;
  std::size_t m_vision;
  std::size_t m_layers;
  std::size_t m_stages;
};

// A table comes first in its shard, then types in their order, then names.
auto placeInShard(const ExpectedTensor& tensor) {
  const int table = tensor.name.ends_with("engram.embed.weight")  ? 0
                    : tensor.name.ends_with("engram.embed.scale") ? 1
                                                                  : 2;
  return std::tuple(table, typeOrder(tensor.dtype), std::string_view(tensor.name));
}

std::vector<SynthShard> planShards(const SynthPlan& plan) {
  const ShardOrder order(plan);
  const std::size_t count = order.count();
  std::vector<SynthShard> shards(count);
  const std::vector<int> experts(static_cast<std::size_t>(plan.config.layers), plan.config.routedExperts);
  std::uint64_t inputs = 0;
  forEachExpected(plan.config, experts, plan.draft, [&](const ExpectedTensor& tensor) {
    SynthTensor planned{tensor, dtypeBits(tensor.dtype) / 8, 0};
    for (const std::uint64_t dimension : tensor.shape) planned.bytes *= dimension;
    // A weight comes right before its scale.
    if (tensor.dtype == Dtype::kF8E8M0) planned.inputs = inputs;
    if (tensor.shape.size() == 2) inputs = tensor.shape[1] * (tensor.dtype == Dtype::kI8 ? 2 : 1);
    SynthShard& shard = shards[order.of(tensor.name)];
    shard.bytes += planned.bytes;
    shard.tensors.push_back(std::move(planned));
  });
  for (std::size_t i = 0; i < count; ++i) {
    const auto digits = [](std::size_t n) {
      const std::string text = std::to_string(n);
      return std::string(5 - std::min<std::size_t>(5, text.size()), '0') + text;
    };
    shards[i].name = "model-" + digits(i + 1) + "-of-" + digits(count) + ".safetensors";
    std::sort(shards[i].tensors.begin(), shards[i].tensors.end(), [](const SynthTensor& a, const SynthTensor& b) {
      return placeInShard(a.tensor) < placeInShard(b.tensor);
    });
  }
  return shards;
}

std::string headerOf(const SynthShard& shard) {
  std::string text = "{";
  std::uint64_t at = 0;
  for (const SynthTensor& planned : shard.tensors) {
    const Json shape = planned.tensor.shape;
    text += (at == 0 && text.size() == 1 ? "\"" : ",\"") + planned.tensor.name + R"(":{"dtype":")" +
            std::string(dtypeName(planned.tensor.dtype)) + R"(","shape":)" + shape.dump() + R"(,"data_offsets":[)" +
            std::to_string(at) + "," + std::to_string(at + planned.bytes) + "]}";
    at += planned.bytes;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

class Writer {
public:
  Writer(const SynthOptions& options, const SynthPlan& plan)
      : m_options(options), m_plan(plan), m_values(plan.config, options.seed) {}

  Status run(const std::vector<SynthShard>& shards) {
    for (const SynthShard& shard : shards) m_progress.totalBytes += shard.bytes;
    std::vector<std::pair<std::string, std::string>> entries;
    for (const SynthShard& shard : shards) {
      COLIBRI_RETURN_IF_ERROR(writeShard(shard));
      for (const SynthTensor& planned : shard.tensors) entries.emplace_back(planned.tensor.name, shard.name);
    }
    std::sort(entries.begin(), entries.end());
    std::string index =
        "{\n  \"metadata\": {\"total_size\": " + std::to_string(m_progress.totalBytes) + "},\n  \"weight_map\": {";
    for (std::size_t i = 0; i < entries.size(); ++i) {
      index += (i == 0 ? "\n    \"" : ",\n    \"") + entries[i].first + "\": \"" + entries[i].second + "\"";
    }
    index += "\n  }\n}\n";
    COLIBRI_RETURN_IF_ERROR(writeText(std::string(kIndexName), index));
    COLIBRI_RETURN_IF_ERROR(writeText("tokenizer.json", synthTokenizerJson(m_plan.config.vocabSize).dump(1)));
    // Last, so that a folder with a config.json is a finished one.
    return writeText("config.json", synthConfigJson(m_plan).dump(2) + "\n");
  }

  /// Takes back what has been written.
  void remove() const {
    std::error_code error;
    for (const std::string& name : m_written) std::filesystem::remove(m_options.out / name, error);
  }

private:
  Status failed(const std::string& name) const {
    const std::string reason = errno != 0 ? std::strerror(errno) : "the write was refused";
    return {Code::kIo, "write_failed", name + " cannot be written to " + m_options.out.string() + ": " + reason + "."};
  }

  Status writeText(const std::string& name, const std::string& text) {
    m_written.push_back(name);
    errno = 0;
    std::ofstream file(m_options.out / name, std::ios::binary);
    file << text;
    file.close();
    return file ? Status::ok() : failed(name);
  }

  Status writeShard(const SynthShard& shard) {
    m_written.push_back(shard.name);
    errno = 0;
    const std::filesystem::path path = m_options.out / shard.name;
    const std::string header = headerOf(shard);
    std::ofstream file(path, std::ios::binary);
    std::array<char, 8> length{};
    for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
    file.write(length.data(), length.size());
    file << header;
    if (m_plan.sparse) {
      file.close();
      std::error_code error;
      if (file) std::filesystem::resize_file(path, 8 + header.size() + shard.bytes, error);
      m_progress.doneBytes += shard.bytes;
      return file && !error ? Status::ok() : failed(shard.name);
    }
    for (const SynthTensor& planned : shard.tensors) {
      COLIBRI_RETURN_IF_ERROR(writeTensor(file, planned));
      if (!file) return failed(shard.name);
    }
    file.close();
    return file ? Status::ok() : failed(shard.name);
  }

  Status writeTensor(std::ofstream& file, const SynthTensor& planned) {
    // Pieces of whole rows, so that a row of the routing table is never cut.
    const std::uint64_t row = planned.tensor.shape.back() * dtypeBits(planned.tensor.dtype) / 8;
    const std::uint64_t piece = std::max<std::uint64_t>(1, (std::uint64_t{4} << 20) / (row * 8)) * row * 8;
    m_values.begin(planned.tensor, planned.inputs, m_plan.config.routedExperts);
    for (std::uint64_t at = 0; at < planned.bytes && file; at += piece) {
      if (m_options.cancellation.isCancelled())
        return {Code::kCancelled, "cancelled", "Making the checkpoint was cancelled."};
      m_buffer.resize(static_cast<std::size_t>(std::min(piece, planned.bytes - at)));
      m_values.fill(m_buffer);
      file.write(reinterpret_cast<const char*>(m_buffer.data()), static_cast<std::streamsize>(m_buffer.size()));
      m_progress.doneBytes += m_buffer.size();
      if (m_options.progress) m_options.progress(m_progress);
    }
    return Status::ok();
  }

  const SynthOptions& m_options;
  const SynthPlan& m_plan;
  SynthValues m_values;
  VerifyProgress m_progress;
  std::vector<std::byte> m_buffer;
  std::vector<std::string> m_written;
};

Status checkSpace(const std::filesystem::path& out, std::uint64_t needed) {
  std::error_code error;
  const auto space = std::filesystem::space(out, error);
  if (error || space.available >= needed) return Status::ok();
  return {Code::kIo, "disk_full",
          "The checkpoint needs " + std::to_string(needed / 1000000) + " MB, but only " +
              std::to_string(space.available / 1000000) + " MB are free at " + out.string() +
              ". Free some space or choose another folder."};
}

}  // namespace

Status synthesizeCheckpoint(const SynthOptions& options) {
  COLIBRI_ASSIGN_OR_RETURN(const SynthPlan plan, planSynth(options));
  std::error_code error;
  if (std::filesystem::exists(options.out, error) &&
      (!std::filesystem::is_directory(options.out, error) || !std::filesystem::is_empty(options.out, error))) {
    return {
        Code::kUsage, "folder_not_empty",
        options.out.string() + " exists and is not an empty folder. Choose a new one; nothing is ever overwritten."};
  }
  const std::vector<SynthShard> shards = planShards(plan);
  constexpr std::uint64_t kBeside = std::uint64_t{64} << 20;  // headers, index, tokenizer
  std::uint64_t needed = kBeside;
  for (const SynthShard& shard : shards) needed += plan.sparse ? 0 : shard.bytes;
  const bool made = std::filesystem::create_directories(options.out, error);
  if (error) {
    return {Code::kIo, "write_failed", options.out.string() + " cannot be created: " + error.message() + "."};
  }
  Status status = checkSpace(options.out, needed);
  if (status.isOk()) {
    Writer writer(options, plan);
    status = writer.run(shards);
    if (!status.isOk()) writer.remove();
  }
  if (!status.isOk() && made) std::filesystem::remove(options.out, error);
  return status;
}

}  // namespace colibri

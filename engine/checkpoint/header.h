#pragma once
// A safetensors header: 8 bytes with its length, JSON, then the data. Format: the safetensors README; the checks are
// those of its reference reader and stricter.

#include "checkpoint/findings.h"
#include "checkpoint/tensor.h"
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace colibri {

/// What a header may be at most. The hard limit of the format is 100,000,000 bytes.
struct HeaderLimits {
  std::uint64_t maxHeaderBytes = std::uint64_t{32} << 20;
  std::uint64_t maxTensors = 1000000;
  std::size_t maxNameBytes = 512;
  std::size_t maxMetadataBytes = std::size_t{1} << 20;
  std::size_t maxRank = 8;
};
inline constexpr std::uint64_t kHardHeaderLimit = 100000000;

/// Parses the JSON part. Offsets of the result are relative to the data's start; order as in the text. Pure and bounded
/// by the text's size. Error: kCheckpoint "bad_header", a sentence that starts with `file`.
Result<std::vector<TensorInfo>> parseHeader(std::string_view json, std::string_view file,
                                            const HeaderLimits& limits = {});

/// Checks that the tensors tile `dataBytes` exactly: no hole, no overlap, nothing beyond the end, nothing after the
/// last. Each problem is reported (at most a few per kind); `dataStart` and `fileBytes` word the sizes. Sorts `tensors`
/// by offset. True when sound.
bool checkTiling(std::vector<TensorInfo>& tensors, std::string_view file, std::uint64_t dataStart,
                 std::uint64_t fileBytes, const FindingSink& sink);

/// One shard's header as read from its file.
struct ShardHeader {
  bool parsed = false;  ///< whether the header could be read at all
  std::uint64_t fileBytes = 0;
  std::uint64_t headerBytes = 0;    ///< 8 + N
  std::vector<TensorInfo> tensors;  ///< absolute offsets, sorted by offset; also when the tiling is wrong
};

/// Opens `path`, checks N against the file's size before anything is allocated, parses and checks. `name` is the file's
/// name in messages.
ShardHeader readShardHeader(const std::filesystem::path& path, std::string_view name, const FindingSink& sink,
                            const HeaderLimits& limits = {});

}  // namespace colibri

#include "checkpoint/header.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/shard_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

namespace colibri {
namespace {

// What a file that is no safetensors file really is, by its first bytes; empty when nothing is recognised.
std::string_view impostor(std::string_view start) {
  const auto begins = [&](std::string_view magic) { return start.substr(0, magic.size()) == magic; };
  if (begins("version https://git-lfs")) {
    return "a git-lfs pointer, not the file itself; fetch it with \"git lfs pull\" or download it again";
  }
  if (begins("<!DOCTYPE") || begins("<!doctype") || begins("<html") || begins("<HTML")) {
    return "a web page that was saved in place of the file; download it again";
  }
  if (begins("{\"error\""))
    return "an error message of the server that was saved in place of the file; download it again";
  if (begins("PK\x03\x04")) return "a zip archive (perhaps a renamed .bin); safetensors files are needed";
  if (begins("GGUF")) return "a GGUF file; Colibri reads the official safetensors files";
  return {};
}

class Reader {
public:
  Reader(std::string_view name, const FindingSink& sink, const HeaderLimits& limits)
      : m_name(name), m_shown(printable(name, 300)), m_sink(sink), m_limits(limits) {}

  ShardHeader run(const std::filesystem::path& path) {
    ShardHeader header;
    auto file = ShardFile::open(path);
    if (!file) {
      // The shard is not usable as a file; a missing one is worded by the caller, who knows how many there should be.
      const bool missing = file.status().id() == "missing_file";
      bad(missing || file.status().id() == "not_a_file" ? "missing_shard" : "bad_header", file.status().message());
      return header;
    }
    header.fileBytes = file->size();
    std::uint64_t jsonBytes = 0;
    if (!length(*file, jsonBytes)) return header;
    std::string json(static_cast<std::size_t>(jsonBytes), '\0');
    if (const Status read = file->read(8, std::as_writable_bytes(std::span(json))); !read.isOk()) {
      bad(read.id() == "file_shrank" ? "shard_truncated" : "bad_header", m_shown + ": " + read.message());
      return header;
    }
    auto parsed = parseHeader(json, m_name, m_limits);
    if (!parsed) {
      Finding finding = makeFinding("bad_header", m_name, parsed.status().detail(), parsed.status().message(),
                                    std::string(kDownloadAgain));
      m_sink(std::move(finding));
      return header;
    }
    header.parsed = true;
    header.headerBytes = 8 + jsonBytes;
    header.tensors = std::move(*parsed);
    checkTiling(header.tensors, m_name, header.headerBytes, header.fileBytes, m_sink);
    for (TensorInfo& tensor : header.tensors) tensor.offset += header.headerBytes;
    return header;
  }

private:
  void bad(std::string_view code, std::string message) {
    m_sink(makeFinding(code, m_name, {}, std::move(message), std::string(kDownloadAgain)));
  }

  bool length(const ShardFile& file, std::uint64_t& jsonBytes) {
    const std::uint64_t size = file.size();
    if (size < 8) {
      truncated(m_shown + " has " + counted(size, "byte") + "; even the header's length needs 8.", 8, size);
      return false;
    }
    std::array<char, 64> start{};
    const std::size_t seen = static_cast<std::size_t>(std::min<std::uint64_t>(size, start.size()));
    if (const Status read = file.read(0, std::as_writable_bytes(std::span(start).first(seen))); !read.isOk()) {
      bad("bad_header", m_shown + ": " + read.message());
      return false;
    }
    if (const auto what = impostor({start.data(), seen}); !what.empty()) {
      bad("bad_header", m_shown + " is " + std::string(what) + ".");
      return false;
    }
    for (int i = 7; i >= 0; --i)
      jsonBytes = jsonBytes << 8 | static_cast<unsigned char>(start[static_cast<std::size_t>(i)]);
    if (jsonBytes == 0) {
      bad("bad_header", m_shown + " begins with zeros: the download of this file has not been finished.");
    } else if (jsonBytes < 2 || jsonBytes > kHardHeaderLimit) {
      bad("bad_header", m_shown + " states a header of " + counted(jsonBytes, "byte") + "; 2 to " +
                            std::to_string(kHardHeaderLimit) + " are possible. It is damaged or no safetensors file.");
    } else if (jsonBytes > size - 8) {
      truncated(m_shown + " is cut short: it has " + counted(size, "byte") + ", its header alone needs " +
                    std::to_string(8 + jsonBytes) + ".",
                8 + jsonBytes, size);
    } else if (jsonBytes > m_limits.maxHeaderBytes) {
      bad("bad_header", m_shown + " has a header of " + counted(jsonBytes, "byte") + ", more than the limit of " +
                            std::to_string(m_limits.maxHeaderBytes) + ".");
    } else {
      return true;
    }
    return false;
  }

  void truncated(std::string message, std::uint64_t expected, std::uint64_t actual) {
    Finding finding = makeFinding("shard_truncated", m_name, {}, std::move(message), std::string(kDownloadAgain));
    finding.expectedBytes = expected;
    finding.actualBytes = actual;
    m_sink(std::move(finding));
  }

  std::string_view m_name;
  std::string m_shown;
  const FindingSink& m_sink;
  HeaderLimits m_limits;
};

}  // namespace

bool checkTiling(std::vector<TensorInfo>& tensors, std::string_view file, std::uint64_t dataStart,
                 std::uint64_t fileBytes, const FindingSink& sink) {
  constexpr int kMaxReports = 8;  // a header with one wrong offset tends to have many
  const std::uint64_t dataBytes = fileBytes - dataStart;
  const std::string shown = printable(file, 300);
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    if (a.offset != b.offset) return a.offset < b.offset;
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.name < b.name;
  });
  const auto report = [&](std::string_view code, const TensorInfo& tensor, const std::string& message,
                          std::uint64_t expected, std::uint64_t actual) {
    Finding finding =
        makeFinding(code, file, tensor.name, shown + ": tensor \"" + printable(tensor.name) + "\" " + message,
                    std::string(kDownloadAgain));
    finding.expectedBytes = expected;
    finding.actualBytes = actual;
    sink(std::move(finding));
  };

  std::uint64_t at = 0;
  std::uint64_t beyond = 0;  // tensors that reach past the file's end
  const TensorInfo* hole = nullptr;
  std::uint64_t holeAt = 0;
  int overlaps = 0;
  int outside = 0;
  for (const TensorInfo& tensor : tensors) {
    const std::uint64_t end = tensor.offset + tensor.bytes;  // both < 2^63
    if (tensor.offset < at) {
      if (overlaps++ < kMaxReports) {
        report("tensor_overlap", tensor,
               "begins at byte " + std::to_string(tensor.offset) +
                   " of the data, inside the tensor before it, which ends at " + std::to_string(at) + ".",
               at, tensor.offset);
      }
    } else if (tensor.offset > at && hole == nullptr) {
      hole = &tensor;
      holeAt = at;
    }
    if (end > dataBytes) {
      ++beyond;
      // After a hole the offsets are wrong; without one the file is merely cut short.
      if (hole != nullptr && outside++ < kMaxReports) {
        report("tensor_out_of_bounds", tensor,
               "ends at byte " + std::to_string(end) + " of the data, which has " + std::to_string(dataBytes) + ".",
               end, dataBytes);
      }
    }
    at = std::max(at, end);
  }
  if (hole != nullptr && overlaps == 0 && outside == 0) {
    report("bad_header", *hole,
           "begins at byte " + std::to_string(hole->offset) + " of the data, but the tensor before it ends at " +
               std::to_string(holeAt) + "; there must be no gap.",
           holeAt, hole->offset);
  }
  if (outside == 0 && at != dataBytes) {
    const bool cut = at > dataBytes;
    Finding finding = makeFinding(cut ? "shard_truncated" : "shard_too_long", file, {},
                                  cut ? shown + " is cut short: it has " + counted(fileBytes, "byte") +
                                            ", its header needs " + std::to_string(dataStart + at) + "."
                                      : shown + " has " + counted(fileBytes, "byte") +
                                            ", its header accounts for only " + std::to_string(dataStart + at) + ".",
                                  std::string(kDownloadAgain));
    finding.expectedBytes = dataStart + at;
    finding.actualBytes = fileBytes;
    if (cut) finding.tensors = beyond;
    sink(std::move(finding));
    return false;
  }
  return hole == nullptr && overlaps == 0 && outside == 0;
}

ShardHeader readShardHeader(const std::filesystem::path& path, std::string_view name, const FindingSink& sink,
                            const HeaderLimits& limits) {
  return Reader(name, sink, limits).run(path);
}

}  // namespace colibri

#include "checkpoint/full_check.h"

#include "base/hash.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/shard_file.h"
#include "checkpoint/value_check.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

namespace colibri {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;
constexpr std::uint64_t kSuspiciousZeros = std::uint64_t{1} << 20;

// Totals of all files, shared by the threads.
class Progress {
public:
  Progress(const std::function<void(const VerifyProgress&)>& notify, std::uint64_t total)
      : m_notify(notify), m_state{0, total} {}
  void add(std::uint64_t bytes) {
    const std::lock_guard lock(m_mutex);
    m_state.doneBytes += bytes;
    if (m_notify) m_notify(m_state);
  }

private:
  std::mutex m_mutex;
  const std::function<void(const VerifyProgress&)>& m_notify;
  VerifyProgress m_state;
};

std::int64_t experts(const TensorInfo& tensor, const std::vector<int>& counts) {
  constexpr std::string_view kPrefix = "layers.";
  if (!tensor.name.starts_with(kPrefix) || !tensor.name.ends_with(".ffn.gate.tid2eid")) return 0;
  std::size_t layer = 0;
  for (std::size_t i = kPrefix.size(); i < tensor.name.size() && tensor.name[i] != '.'; ++i) {
    if (tensor.name[i] < '0' || tensor.name[i] > '9' || layer > counts.size()) return 0;
    layer = layer * 10 + static_cast<std::size_t>(tensor.name[i] - '0');
  }
  return layer < counts.size() ? counts[layer] : 0;
}

class FileCheck {
public:
  FileCheck(const FullCheckFile& file, const std::vector<int>& counts, const Cancellation& cancellation,
            Progress& progress, FindingReporter& reporter)
      : m_file(file), m_counts(counts), m_cancellation(cancellation), m_progress(progress), m_reporter(reporter) {}

  /// The digest; empty when the file could not be read to its end or the check was cancelled.
  std::string run() {
    auto opened = ShardFile::open(m_file.path);
    if (!opened) {
      m_reporter.report(makeFinding("missing_shard", m_file.name, {}, opened.status().message()));
      return {};
    }
    m_handle = &*opened;
    m_buffer.resize(static_cast<std::size_t>(std::min(kPiece, std::max<std::uint64_t>(opened->size(), 1))));
    for (const TensorInfo* tensor : m_file.tensors) {
      // A damaged header may overlap or leave gaps; every byte is hashed once, values only where the tiling holds.
      if (tensor->offset < m_at || tensor->bytes > opened->size() || tensor->offset > opened->size() - tensor->bytes)
        continue;
      if (!stretch(tensor->offset, nullptr) || !stretch(tensor->offset + tensor->bytes, tensor)) return {};
    }
    if (!stretch(opened->size(), nullptr)) return {};
    if (!opened->unchanged(m_file.path)) {
      m_reporter.report(makeFinding("hash_mismatch", m_file.name, {},
                                    printable(m_file.name, 300) + " changed while it was read.", "Verify again."));
      return {};
    }
    if (!m_file.tensors.empty() && m_zeros >= kSuspiciousZeros) {
      m_reporter.report(makeWarning("tensor_value", m_file.name, {},
                                    printable(m_file.name, 300) + " ends with " + counted(m_zeros, "zero byte") +
                                        "; the download may not have been finished.",
                                    std::string(kDownloadAgain)));
    }
    return m_hash.finishHex();
  }

private:
  // Reads up to `end`; as values of `tensor` when it is given.
  bool stretch(std::uint64_t end, const TensorInfo* tensor) {
    const unsigned element = tensor == nullptr ? 0 : checkedElementBytes(tensor->dtype);
    const std::int64_t bound = tensor == nullptr ? 0 : experts(*tensor, m_counts);
    bool reported = false;
    while (m_at < end) {
      if (m_cancellation.isCancelled()) return false;
      // A piece is a multiple of every element size, so no element is cut.
      const auto piece =
          std::span(m_buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, end - m_at)));
      if (const Status read = m_handle->read(m_at, piece); !read.isOk()) {
        m_reporter.report(makeFinding(read.id() == "file_shrank" ? "shard_truncated" : "hash_mismatch", m_file.name, {},
                                      printable(m_file.name, 300) + ": " + read.message(),
                                      std::string(kDownloadAgain)));
        return false;
      }
      m_hash.update(piece);
      countZeros(piece);
      if (element != 0 && !reported) {
        if (const auto bad = firstBadElement(tensor->dtype, piece, bound)) {
          reportValue(*tensor, (m_at - tensor->offset) / element + *bad, bound);
          reported = true;
        }
      }
      m_at += piece.size();
      m_handle->forgetBefore(m_at);
      m_progress.add(piece.size());
    }
    return true;
  }

  void countZeros(std::span<const std::byte> piece) {
    std::size_t tail = 0;
    while (tail < piece.size() && piece[piece.size() - 1 - tail] == std::byte{0}) ++tail;
    m_zeros = tail == piece.size() ? m_zeros + tail : tail;
  }

  void reportValue(const TensorInfo& tensor, std::uint64_t index, std::int64_t bound) {
    const std::string what = tensor.dtype == Dtype::kI64
                                 ? " names an expert that does not exist (there are " + std::to_string(bound) + ")"
                                 : " is not a finite number";
    m_reporter.report(makeFinding("tensor_value", m_file.name, tensor.name,
                                  printable(m_file.name, 300) + ": element " + std::to_string(index) + " of tensor " +
                                      inQuotes(tensor.name) + what + ".",
                                  std::string(kDownloadAgain)));
  }

  const FullCheckFile& m_file;
  const std::vector<int>& m_counts;
  const Cancellation& m_cancellation;
  Progress& m_progress;
  FindingReporter& m_reporter;
  const ShardFile* m_handle = nullptr;
  std::vector<std::byte> m_buffer;
  std::uint64_t m_at = 0;
  std::uint64_t m_zeros = 0;  // zero bytes at the end of what has been read
  Sha256 m_hash;
};

std::string lowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

Status checkFully(const std::vector<FullCheckFile>& files, const std::vector<int>& expertCounts,
                  const VerifyOptions& options, FindingReporter& reporter, std::map<std::string, std::string>& hashes) {
  std::uint64_t total = 0;
  for (const FullCheckFile& file : files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file.path, error);
    if (!error) total += size;
  }
  Progress progress(options.progress, total);
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size() && !options.cancellation.isCancelled(); i = next++) {
      const FullCheckFile& file = files[i];
      const std::string digest = FileCheck(file, expertCounts, options.cancellation, progress, reporter).run();
      if (digest.empty()) continue;
      if (const auto wanted = options.manifest.find(file.name); wanted != options.manifest.end()) {
        if (lowerCase(wanted->second) != digest) {
          reporter.report(makeFinding("hash_mismatch", file.name, {},
                                      printable(file.name, 300) + " has SHA-256 " + digest + "; the manifest says " +
                                          printable(wanted->second, 64) + ".",
                                      std::string(kDownloadAgain)));
        }
      } else if (!options.manifest.empty()) {
        reporter.report(
            makeWarning("hash_mismatch", file.name, {}, printable(file.name, 300) + " is not in the manifest."));
      }
      const std::lock_guard lock(mutex);
      hashes[file.name] = digest;
    }
  };
  if (files.size() > 1) {
    std::thread second(work);
    work();
    second.join();
  } else {
    work();
  }
  if (options.cancellation.isCancelled()) return {Code::kCancelled, "cancelled", "Verification was cancelled."};
  return Status::ok();
}

}  // namespace colibri

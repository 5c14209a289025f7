#include "cli/drive_rate.h"

#include "base/buffer.h"
#include "io/read_backend.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace colibri {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMaxBlock = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
constexpr std::size_t kDepth = 8;

}  // namespace

Result<DriveRate> measureDriveRate(const std::filesystem::path& file, const Cancellation& cancellation) {
  ReadOptions options;
  options.queueDepth = static_cast<int>(kDepth);
  const std::array paths{file};
  COLIBRI_ASSIGN_OR_RETURN(const auto backend, openReadBackend(paths, options));
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return Status(Code::kIo, "read_failed", file.string() + " cannot be examined.");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const std::uint64_t block = std::min(kMaxBlock, size / kPage * kPage);
  DriveRate rate;
  const FileAccess access = backend->access(0);
  rate.direct = access.direct;
  rate.reason = access.reason;
  if (block == 0) {
    rate.warning = "The file is too small to measure with.";
    return rate;
  }
  if (static_cast<std::uint64_t>(info.st_blocks) * 512 < size / 2) {
    rate.warning = "The file has holes, which are read without touching the drive.";
  } else if (size < kMaxBytes / 8) {
    rate.warning = "The file is small; the drive's own cache may answer.";
  }
  COLIBRI_ASSIGN_OR_RETURN(const Buffer buffer, Buffer::allocate(kDepth * block, MemoryTag::kScratch, nullptr));

  const std::uint64_t places = size / block;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::uint64_t issued = 0;
  const auto next = [&](std::uint64_t slot) {
    ReadRequest request;
    // A stride through the whole file that visits places far apart, each once before any twice.
    request.offset = (issued * 7919 % places) * block;
    request.bytes = block;
    request.expected = block;
    request.target = buffer.data() + slot * block;
    request.tag = slot;
    ++issued;
    return request;
  };
  std::vector<ReadRequest> first;
  for (std::uint64_t slot = 0; slot < kDepth; ++slot) first.push_back(next(slot));
  COLIBRI_RETURN_IF_ERROR(backend->submit(first));
  std::array<ReadCompletion, kDepth> done;
  Status failure;
  while (backend->inFlight() > 0) {
    const std::size_t count = backend->poll(done, true);
    for (std::size_t i = 0; i < count; ++i) {
      if (!done[i].status.isOk()) {
        failure = done[i].status;
        continue;
      }
      rate.bytesRead += done[i].bytes;
      const bool enough = issued * block >= kMaxBytes || elapsed() > 1.0 || cancellation.isCancelled();
      if (enough || !failure.isOk()) continue;
      const ReadRequest request = next(done[i].tag);
      const Status submitted = backend->submit(std::span(&request, 1));
      if (!submitted.isOk()) failure = submitted;
    }
  }
  if (!failure.isOk()) return failure;
  if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
  rate.seconds = elapsed();
  rate.bytesPerSecond = static_cast<double>(rate.bytesRead) / std::max(rate.seconds, 1e-9);
  return rate;
}

}  // namespace colibri

#include "bench/read_ceiling.h"

#include "base/buffer.h"
#include "io/read_backend.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#if defined(COLIBRI_HAVE_URING)
#include <liburing.h>
#endif

namespace colibri {
namespace {

using Clock = std::chrono::steady_clock;

Status readFailed(int error) {
  return Status(Code::kIo, "read_failed",
                "A read failed (" + std::generic_category().message(error) + "); check the drive, then try again.");
}

struct Block {
  int descriptor = -1;
  std::uint64_t offset = 0;
};

/// Open files, the order of their blocks, and memory for `depth` of them.
class Blocks {
public:
  Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    for (const int descriptor : m_descriptors) (void)::close(descriptor);
  }

  Status open(const ReadCeilingOptions& options) {
    m_bytes = options.blockBytes;
    m_depth = options.depth;
    std::vector<std::uint64_t> sizes;  // in blocks
    std::uint64_t blocks = 0;
    for (const auto& path : options.files) {
      int flags = O_RDONLY | O_CLOEXEC;
#if defined(O_DIRECT)
      if (options.direct) flags |= O_DIRECT;
#endif
      const int descriptor = ::open(path.c_str(), flags);
      if (descriptor < 0) return readFailed(errno);
      m_descriptors.push_back(descriptor);
      struct stat info {};
      if (fstat(descriptor, &info) != 0) return readFailed(errno);
      sizes.push_back(static_cast<std::uint64_t>(info.st_size) / m_bytes);
      blocks += sizes.back();
    }
    std::mt19937_64 random(1);
    // A list of all blocks of a large model would take hundreds of megabytes.
    const std::uint64_t stride = std::max<std::uint64_t>(1, blocks / std::max<std::size_t>(options.mostBlocks, 1));
    for (std::size_t file = 0; file < sizes.size(); ++file) {
      for (std::uint64_t first = 0; first < sizes[file]; first += stride) {
        const std::uint64_t within = random() % std::min(stride, sizes[file] - first);
        m_order.push_back({m_descriptors[file], (first + within) * m_bytes});
      }
    }
    if (m_order.empty()) return Status(Code::kIo, "small_files", "The files are too small to measure with.");
    std::shuffle(m_order.begin(), m_order.end(), random);
    COLIBRI_ASSIGN_OR_RETURN(m_memory, Buffer::allocateUntouched(m_bytes * static_cast<std::uint64_t>(m_depth),
                                                                 MemoryTag::kScratch, nullptr));
    for (std::size_t at = 0; at < m_memory.size(); at += kReadAlignment) m_memory.data()[at] = std::byte{1};
    return Status::ok();
  }

  void dropFromPageCache() const {
#if defined(POSIX_FADV_DONTNEED)
    for (const int descriptor : m_descriptors) (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
#endif
  }
  const Block& next() {
    return m_order[m_next.fetch_add(1, std::memory_order_relaxed) % m_order.size()];
  }
  [[nodiscard]] std::byte* target(int place) const {
    return m_memory.data() + static_cast<std::uint64_t>(place) * m_bytes;
  }
  [[nodiscard]] const Buffer& memory() const {
    return m_memory;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return m_bytes;
  }
  [[nodiscard]] int depth() const {
    return m_depth;
  }

private:
  std::vector<int> m_descriptors;
  std::vector<Block> m_order;
  std::atomic<std::size_t> m_next{0};
  Buffer m_memory;
  std::uint64_t m_bytes = 0;
  int m_depth = 0;
};

/// When the clock starts and stops, as keepReading() has it.
class Stopwatch {
public:
  explicit Stopwatch(double seconds) : m_seconds(seconds) {}
  /// `count` reads of `bytes` have ended; true when that is enough.
  bool ended(std::uint64_t count, std::uint64_t bytes) {
    const auto now = Clock::now();
    if (!m_isRunning) {
      m_isRunning = true;
      m_start = now;
      return false;
    }
    m_rate.items += count;
    m_rate.bytes += count * bytes;
    m_rate.seconds = std::chrono::duration<double>(now - m_start).count();
    return m_rate.seconds >= m_seconds;
  }
  [[nodiscard]] const ReadRate& rate() const { return m_rate; }

private:
  double m_seconds;
  bool m_isRunning = false;
  Clock::time_point m_start;
  ReadRate m_rate;
};

class ThreadCeiling final : public ReadCeiling {
public:
  Status open(const ReadCeilingOptions& options) { return m_blocks.open(options); }

  Result<ReadRate> measure(double seconds, const Cancellation& cancellation) override {
    m_blocks.dropFromPageCache();
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> ended{0};
    std::atomic<int> error{0};
    const auto work = [&](int place) {
      while (!stop.load(std::memory_order_relaxed)) {
        const Block& block = m_blocks.next();
        const ssize_t got =
            pread(block.descriptor, m_blocks.target(place), m_blocks.bytes(), static_cast<off_t>(block.offset));
        if (got == static_cast<ssize_t>(m_blocks.bytes())) {
          ended.fetch_add(1, std::memory_order_relaxed);
        } else if (!(got < 0 && errno == EINTR)) {
          error.store(got < 0 ? errno : EIO);
          stop.store(true);
        }
      }
    };
    std::vector<std::thread> threads;
    try {
      for (int place = 0; place < m_blocks.depth(); ++place) threads.emplace_back(work, place);
    } catch (const std::system_error&) {
      // Fewer threads than asked for are what the read path would get, too.
    }
    Stopwatch watch(seconds);
    std::uint64_t seen = 0;
    while (!threads.empty() && !stop.load() && !cancellation.isCancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::uint64_t now = ended.load(std::memory_order_relaxed);
      if (now == seen) continue;
      if (watch.ended(now - seen, m_blocks.bytes())) break;
      seen = now;
    }
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
    if (error.load() != 0) return readFailed(error.load());
    if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
    return watch.rate();
  }

private:
  Blocks m_blocks;
};

#if defined(COLIBRI_HAVE_URING)
class UringCeiling final : public ReadCeiling {
public:
  ~UringCeiling() override {
    if (m_isOpen) io_uring_queue_exit(&m_ring);
  }

  Status open(const ReadCeilingOptions& options) {
    COLIBRI_RETURN_IF_ERROR(m_blocks.open(options));
    const auto depth = static_cast<unsigned>(options.depth);
    unsigned flags = 0;
#if defined(IORING_SETUP_DEFER_TASKRUN) && defined(IORING_SETUP_SINGLE_ISSUER)
    flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
#endif
    int error = io_uring_queue_init(depth, &m_ring, flags);
    if (error == -EINVAL && flags != 0) error = io_uring_queue_init(depth, &m_ring, 0);
    if (error < 0) {
      return Status(Code::kUnavailable, "no_io_uring",
                    "The kernel grants no io_uring (" + std::generic_category().message(-error) + ").");
    }
    m_isOpen = true;
    const iovec all{m_blocks.memory().data(), m_blocks.memory().size()};
    m_isRegistered = io_uring_register_buffers(&m_ring, &all, 1) == 0;
    return Status::ok();
  }

  Result<ReadRate> measure(double seconds, const Cancellation& cancellation) override {
    m_blocks.dropFromPageCache();
    Stopwatch watch(seconds);
    for (int place = 0; place < m_blocks.depth(); ++place) start(place);
    int flying = m_blocks.depth();
    int error = 0;
    bool isDone = false;
    while (flying > 0) {
      const int waited = io_uring_submit_and_wait(&m_ring, 1);
      if (waited < 0 && waited != -EINTR && waited != -EAGAIN) return readFailed(-waited);
      unsigned head = 0;
      unsigned count = 0;
      io_uring_cqe* cqe = nullptr;
      m_ended.clear();
      io_uring_for_each_cqe(&m_ring, head, cqe) {
        ++count;
        const bool isWhole = cqe->res == static_cast<int>(m_blocks.bytes());
        if (!isWhole) error = cqe->res < 0 ? -cqe->res : EIO;
        m_ended.push_back(static_cast<int>(cqe->user_data));
      }
      io_uring_cq_advance(&m_ring, count);
      flying -= static_cast<int>(count);
      if (count > 0 && !isDone) isDone = watch.ended(count, m_blocks.bytes());
      if (error != 0 || cancellation.isCancelled()) isDone = true;
      if (isDone) continue;
      for (const int place : m_ended) start(place);
      flying += static_cast<int>(m_ended.size());
    }
    if (error != 0) return readFailed(error);
    if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
    return watch.rate();
  }

private:
  void start(int place) {
    const Block& block = m_blocks.next();
    io_uring_sqe* sqe = io_uring_get_sqe(&m_ring);  // as many as there are reads in flight
    const auto bytes = static_cast<unsigned>(m_blocks.bytes());
    if (m_isRegistered) {
      io_uring_prep_read_fixed(sqe, block.descriptor, m_blocks.target(place), bytes, block.offset, 0);
    } else {
      io_uring_prep_read(sqe, block.descriptor, m_blocks.target(place), bytes, block.offset);
    }
    sqe->user_data = static_cast<std::uint64_t>(place);
  }

  Blocks m_blocks;
  io_uring m_ring{};
  bool m_isOpen = false;
  bool m_isRegistered = false;
  std::vector<int> m_ended;
};
#endif

}  // namespace

Result<std::unique_ptr<ReadCeiling>> ReadCeiling::open(const ReadCeilingOptions& options) {
  if (options.depth < 1 || options.depth > 256 || options.blockBytes == 0 || options.blockBytes % kReadAlignment != 0 ||
      options.blockBytes > std::uint64_t{1} << 30) {
    return Status(Code::kInternal, "bad_ceiling", "A ceiling was asked for with an impossible block or depth.");
  }
  if (options.uring) {
#if defined(COLIBRI_HAVE_URING)
    auto ceiling = std::make_unique<UringCeiling>();
    COLIBRI_RETURN_IF_ERROR(ceiling->open(options));
    return std::unique_ptr<ReadCeiling>(std::move(ceiling));
#else
    return Status(Code::kUnavailable, "no_io_uring", "This build has no io_uring.");
#endif
  }
  auto ceiling = std::make_unique<ThreadCeiling>();
  COLIBRI_RETURN_IF_ERROR(ceiling->open(options));
  return std::unique_ptr<ReadCeiling>(std::move(ceiling));
}

}  // namespace colibri

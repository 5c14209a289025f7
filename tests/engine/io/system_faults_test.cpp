// What the system may answer: interrupted and short calls, refused direct reads, broken drives, no io_uring. The calls
// are replaced in this program, so that the code under test is the one that users run.

#include "engine/io/io_kinds.h"
#include "engine/io/replaced_read.h"
#include "engine/io/test_files.h"
#include "io/piece_queue.h"
#include "io/read_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#if defined(COLIBRI_HAVE_URING)
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#endif

#if defined(COLIBRI_HAVE_URING)
namespace {
bool g_registerUnreadable = false;  ///< io_uring gets descriptors whose reads say EINVAL
}

struct io_uring;
extern "C" int io_uring_register_files(io_uring* ring, const int* files, unsigned count) {
  using Real = int (*)(io_uring*, const int*, unsigned);
  const auto real = reinterpret_cast<Real>(dlsym(RTLD_NEXT, "io_uring_register_files"));
  if (!g_registerUnreadable) return real(ring, files, count);
  // A descriptor without a read operation; its poll must say "ready", or the kernel would wait before it tries.
  const std::vector<int> unreadable(count, epoll_create1(EPOLL_CLOEXEC));
  const int ready = eventfd(1, EFD_CLOEXEC);
  epoll_event event{EPOLLIN, {}};
  epoll_ctl(unreadable[0], EPOLL_CTL_ADD, ready, &event);
  const int result = real(ring, unreadable.data(), count);
  close(unreadable[0]);
  return result;
}
#endif

namespace colibri {
namespace {

using testing::AlignedBytes;
using testing::byteAt;
using testing::g_replacedRead;
using ::testing::HasSubstr;

constexpr std::uint64_t kBytes = 100'001;

class SystemFaults : public ::testing::Test {
protected:
  void SetUp() override { testing::writeBytes(m_paths[0], testing::patternBytes(1, kBytes)); }
  void TearDown() override {
    g_replacedRead.decide = nullptr;
    g_replacedRead.calls = 0;
    g_replacedRead.mostRunning = 0;
#if defined(_WIN32)
    g_replacedRead.sharedEvents = 0;
#endif
#if defined(COLIBRI_HAVE_URING)
    g_registerUnreadable = false;
#endif
  }

  /// Reads the whole file; the completion and, when it went well, the check of every byte.
  ReadCompletion readAll(ReadBackend& backend) {
    const ReadRequest request{0, 0, alignUp(kBytes), kBytes, m_window.data(), 42};
    EXPECT_TRUE(backend.submit({&request, 1}).isOk());
    ReadCompletion completion;
    EXPECT_TRUE(backend.waitReady(std::chrono::seconds(30)));
    EXPECT_EQ(backend.poll({&completion, 1}, false), 1U);
    EXPECT_EQ(completion.tag, 42U);
    if (completion.status.isOk()) {
      EXPECT_GE(completion.bytes, kBytes);
      for (std::uint64_t i = 0; i < kBytes; ++i) {
        EXPECT_EQ(m_window.data()[i], byteAt(1, i)) << i;
        if (m_window.data()[i] != byteAt(1, i)) break;
      }
    }
    return completion;
  }

  testing::TemporaryFolder m_folder;
  std::vector<std::filesystem::path> m_paths{m_folder.path() / "model.safetensors"};
  AlignedBytes m_window{kBytes};
};

class SystemFaultsKinds : public SystemFaults, public ::testing::WithParamInterface<IoKind> {
protected:
  std::unique_ptr<ReadBackend> open(bool direct) {
    auto backend = openReadBackend(m_paths, {GetParam(), direct, 2});
    EXPECT_TRUE(backend.isOk());
    return std::move(backend).value();
  }
};

TEST_P(SystemFaultsKinds, ShortReadsAreContinued) {
  for (const bool direct : {false, true}) {
    const auto backend = open(direct);
    // A direct call may end at any block; a buffered one at any byte.
    g_replacedRead.decide = [direct](int, NativeFile, long count) { return std::min(count, direct ? 8192L : 777L); };
    g_replacedRead.calls = 0;
    EXPECT_TRUE(readAll(*backend).status.isOk());
    EXPECT_GT(g_replacedRead.calls, 10);
  }
}

TEST_P(SystemFaultsKinds, InterruptedCallsAreRepeated) {
  const auto backend = open(true);
  g_replacedRead.decide = [](int call, NativeFile, long count) {
    if (call % 3 != 2) return call % 3 == 0 ? -long{EINTR} : -long{EAGAIN};
    return std::min(count, 16384L);
  };
  EXPECT_TRUE(readAll(*backend).status.isOk());
}

TEST_P(SystemFaultsKinds, EndlessInterruptionIsAnError) {
  const auto backend = open(true);
  g_replacedRead.decide = [](int, NativeFile, long) { return -long{EAGAIN}; };
  EXPECT_EQ(readAll(*backend).status.id(), "read_failed");
}

TEST_P(SystemFaultsKinds, BrokenDriveIsAnErrorThatNamesThePlace) {
  const auto backend = open(true);
  g_replacedRead.decide = [](int call, NativeFile, long count) {
    return call == 0 ? std::min(count, 8192L) : -long{EIO};
  };
  const ReadCompletion completion = readAll(*backend);
  EXPECT_EQ(completion.status.code(), Code::kIo);
  EXPECT_THAT(completion.status.message(), HasSubstr("model.safetensors at byte 8192"));
  g_replacedRead.decide = nullptr;
  EXPECT_TRUE(readAll(*backend).status.isOk()) << "usable afterwards";
}

TEST_P(SystemFaultsKinds, RefusedDirectReadGoesOnBuffered) {
  for (const int error : {EINVAL, EOPNOTSUPP}) {
    const auto backend = open(true);
    if (!backend->access(0).direct) GTEST_SKIP() << "no direct reads here";
    g_replacedRead.calls = 0;
    g_replacedRead.decide = [error, direct = kNoFile](int call, NativeFile file, long count) mutable {
      if (call == 0) direct = file;
      return file == direct ? -long{error} : count;
    };
    EXPECT_TRUE(readAll(*backend).status.isOk());
    EXPECT_FALSE(backend->access(0).direct);
    EXPECT_THAT(backend->access(0).reason, HasSubstr("refused"));
  }
}

// io_uring reads without these calls; tests of its own follow.
#if defined(_WIN32)
INSTANTIATE_TEST_SUITE_P(Kinds, SystemFaultsKinds, ::testing::Values(testing::kThreadlessKind, IoKind::kThreads),
                         [](const auto& kind) { return testing::kindName(kind.param); });
#else
INSTANTIATE_TEST_SUITE_P(Kinds, SystemFaultsKinds, ::testing::Values(IoKind::kThreads),
                         [](const auto& kind) { return testing::kindName(kind.param); });
#endif

TEST_F(SystemFaults, NoMoreThanTheDepthIsInFlight) {
  std::vector<std::byte> big = testing::patternBytes(2, 9 * kReadPieceBytes);
  testing::writeBytes(m_paths[0], big);
  auto backend = openReadBackend(m_paths, {IoKind::kThreads, false, 3});
  ASSERT_TRUE(backend.isOk());
  g_replacedRead.decide = [](int, NativeFile, long count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return count;
  };
  AlignedBytes window(big.size());
  const ReadRequest request{0, 0, big.size(), big.size(), window.data(), 0};
  ASSERT_TRUE((*backend)->submit({&request, 1}).isOk());
  ReadCompletion completion;
  ASSERT_EQ((*backend)->poll({&completion, 1}, true), 1U);
  EXPECT_EQ(completion.bytes, big.size());
  EXPECT_EQ(g_replacedRead.mostRunning, 3);
#if defined(_WIN32)
  EXPECT_EQ(g_replacedRead.sharedEvents, 0) << "calls on one handle may take each other's end for their own";
#endif
}

#if defined(COLIBRI_HAVE_URING)
TEST_F(SystemFaults, RefusedDirectReadGoesOnBufferedInUring) {
  g_registerUnreadable = true;
  auto backend = openReadBackend(m_paths, {IoKind::kUring, true, 2});
  if (!backend.isOk() || !(*backend)->access(0).direct) GTEST_SKIP() << "no io_uring or no direct reads here";
  EXPECT_TRUE(readAll(**backend).status.isOk());
  EXPECT_FALSE((*backend)->access(0).direct);
  EXPECT_TRUE(readAll(**backend).status.isOk());
}

/// From here on io_uring_setup says `error`, as in many containers.
bool forbidUring(int error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(SystemFaults, WithoutUringThreadsReadAndSayWhy) {
  for (const int error : {ENOSYS, EPERM}) {
    // In a process of its own: the filter cannot be taken back.
    const pid_t child = fork();
    if (child == 0) {
      if (!forbidUring(error)) _exit(77);
      auto backend = openReadBackend(m_paths, {});
      if (!backend.isOk()) _exit(1);
      if ((*backend)->name() != "threads") _exit(2);
      if ((*backend)->fallbackReason().find("io_uring") == std::string::npos) _exit(3);
      if (!readAll(**backend).status.isOk() || ::testing::Test::HasFailure()) _exit(4);
      if (openReadBackend(m_paths, {IoKind::kUring, true, 8}).status().code() != Code::kUnavailable) _exit(5);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}
#endif

TEST(PieceQueue, FailureEndsARequestWithoutReadingItsRest) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a";
  testing::writeBytes(path, testing::patternBytes(1, 10));
  const ReadFile file{{path, 0}};
  const auto files = FileTable::open({&file, 1}, false);
  ASSERT_TRUE(files.isOk());
  PieceQueue queue(**files, {});
  std::vector<std::byte> memory(1);
  queue.add({0, 0, 10 * kReadPieceBytes, 10 * kReadPieceBytes, memory.data(), 1});
  queue.add({0, 0, 100, 100, memory.data(), 2});
  ReadPiece first;
  ReadPiece second;
  ASSERT_TRUE(queue.take(first));
  ASSERT_TRUE(queue.take(second));
  EXPECT_EQ(second.offset, kReadPieceBytes);
  queue.finish(first, Status(Code::kIo, "read_failed", "no"));
  EXPECT_FALSE(queue.hasCompletions()) << "a piece is still being read";
  ReadPiece other;
  ASSERT_TRUE(queue.take(other));
  EXPECT_EQ(other.bytes, 100U);
  ReadPiece none;
  EXPECT_FALSE(queue.take(none));
  queue.finish(second, Status::ok());
  ReadCompletion completion;
  ASSERT_EQ(queue.takeCompletions({&completion, 1}), 1U);
  EXPECT_EQ(completion.tag, 1U);
  EXPECT_EQ(completion.status.id(), "read_failed");
  other.done = 100;
  queue.finish(other, Status::ok());
  ASSERT_EQ(queue.takeCompletions({&completion, 1}), 1U);
  EXPECT_EQ(completion.tag, 2U);
  EXPECT_TRUE(completion.status.isOk());
  EXPECT_EQ(completion.bytes, 100U);
  EXPECT_EQ(queue.inFlight(), 0U);
}

}  // namespace
}  // namespace colibri

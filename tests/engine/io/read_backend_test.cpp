// Every way of reading brings the same bytes, for every offset, size and end of file; faults are told apart.

#include "io/read_backend.h"

#include "engine/io/io_kinds.h"
#include "engine/io/test_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <tuple>
#if defined(_WIN32)
#include "io/windows_api.h"

#include <winioctl.h>
#else
#include <sys/stat.h>
#endif
#if defined(__linux__)
#include <sys/vfs.h>
#endif

namespace colibri {
namespace {

using testing::AlignedBytes;
using testing::byteAt;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

constexpr std::uint64_t kSizes[] = {5'000'123, 1, 4095, 4096, 4097, 12'288, 2'097'153};

class ReadBackendTest : public ::testing::TestWithParam<std::tuple<IoKind, bool, int>> {
protected:
  void SetUp() override {
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      m_paths.push_back(m_folder.path() / ("file" + std::to_string(i)));
      testing::writeBytes(m_paths.back(), testing::patternBytes(i, kSizes[i]));
    }
  }

  std::unique_ptr<ReadBackend> open() {
    const auto [kind, direct, depth] = GetParam();
    auto backend = openReadBackend(m_paths, {kind, direct, depth});
    if (!backend && backend.status().code() == Code::kUnavailable) return nullptr;
    EXPECT_TRUE(backend.isOk()) << backend.status().message();
    return std::move(backend).value();
  }

  TemporaryFolder m_folder;
  std::vector<std::filesystem::path> m_paths;
};

struct Range {
  std::uint32_t file;
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// Odd and even ranges of all files: whole, first and last byte, across block and piece borders, random.
std::vector<Range> someRanges() {
  std::vector<Range> ranges;
  std::mt19937_64 random(7);
  for (std::uint32_t file = 0; file < std::size(kSizes); ++file) {
    const std::uint64_t size = kSizes[file];
    ranges.push_back({file, 0, size});
    ranges.push_back({file, 0, 1});
    ranges.push_back({file, size - 1, 1});
    ranges.push_back({file, size / 3, size - size / 3});
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t offset = random() % size;
      ranges.push_back({file, offset, 1 + random() % (size - offset)});
    }
  }
  ranges.push_back({0, kReadPieceBytes - 3, 7});
  ranges.push_back({0, 4095, 2});
  std::shuffle(ranges.begin(), ranges.end(), random);
  return ranges;
}

TEST_P(ReadBackendTest, BringsTheBytesOfEveryRange) {
  const auto backend = open();
  if (!backend) GTEST_SKIP() << "no io_uring here";
  const std::vector<Range> ranges = someRanges();
  std::vector<AlignedBytes> windows;
  std::vector<ReadRequest> requests;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    const std::uint64_t start = alignDown(range.offset);
    const std::uint64_t bytes = alignUp(range.offset + range.bytes) - start;
    windows.emplace_back(bytes);
    requests.push_back({range.file, start, bytes, range.offset + range.bytes - start, windows.back().data(), i});
  }
  // Two submits, so that new requests meet running ones.
  const std::size_t half = requests.size() / 2;
  ASSERT_TRUE(backend->submit(std::span(requests).first(half)).isOk());
  ASSERT_TRUE(backend->submit(std::span(requests).subspan(half)).isOk());
  EXPECT_EQ(backend->inFlight(), requests.size());

  std::set<std::uint64_t> tags;
  std::vector<ReadCompletion> completions(5);
  while (backend->inFlight() > 0) {
    const std::size_t count = backend->poll(completions, true);
    ASSERT_GT(count, 0U);
    for (std::size_t i = 0; i < count; ++i) {
      const ReadCompletion& completion = completions[i];
      ASSERT_TRUE(completion.status.isOk()) << completion.status.message();
      EXPECT_TRUE(tags.insert(completion.tag).second) << "answered twice";
      EXPECT_GE(completion.bytes, requests[completion.tag].expected);
    }
  }
  EXPECT_EQ(tags.size(), requests.size());
  EXPECT_EQ(backend->poll(completions, true), 0U);
  EXPECT_FALSE(backend->waitReady(std::chrono::milliseconds(0)));

  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::byte* payload = windows[i].data() + (ranges[i].offset - requests[i].offset);
    for (std::uint64_t b = 0; b < ranges[i].bytes; ++b) {
      ASSERT_EQ(payload[b], byteAt(ranges[i].file, ranges[i].offset + b))
          << "file " << ranges[i].file << " byte " << ranges[i].offset + b;
    }
  }
}

TEST_P(ReadBackendTest, TellsHowFilesAreRead) {
  const auto backend = open();
  if (!backend) GTEST_SKIP() << "no io_uring here";
  const auto [kind, direct, depth] = GetParam();
  EXPECT_EQ(backend->name(), kind == IoKind::kThreads ? "threads" : testing::kThreadlessName);
  EXPECT_EQ(backend->fallbackReason(), "");
  const FileAccess access = backend->access(0);
  EXPECT_EQ(access.direct, access.reason.empty());
  if (!direct) {
    EXPECT_THAT(access.reason, HasSubstr("switched off"));
  }
}

TEST_P(ReadBackendTest, ShrunkFileIsAnErrorThatNamesIt) {
  const auto backend = open();
  if (!backend) GTEST_SKIP() << "no io_uring here";
  std::filesystem::resize_file(m_paths[0], 3'000'000);
  std::filesystem::resize_file(m_paths[2], 100);
  AlignedBytes first(5'000'192);
  AlignedBytes second(4096);
  AlignedBytes third(4096);
  const ReadRequest requests[] = {{0, 0, alignUp(5'000'123), 5'000'123, first.data(), 1},
                                  {2, 0, 4096, 4095, second.data(), 2},
                                  {2, 0, 4096, 100, third.data(), 3}};
  ASSERT_TRUE(backend->submit(requests).isOk());
  std::vector<ReadCompletion> completions(4);
  int seen = 0;
  while (backend->inFlight() > 0) {
    const std::size_t count = backend->poll(completions, true);
    for (std::size_t i = 0; i < count; ++i, ++seen) {
      const Status& status = completions[i].status;
      if (completions[i].tag == 3) {
        EXPECT_TRUE(status.isOk()) << status.message();
        continue;
      }
      EXPECT_EQ(status.code(), Code::kIo);
      EXPECT_EQ(status.id(), "file_shrank");
      EXPECT_THAT(status.message(),
                  HasSubstr(completions[i].tag == 1 ? "file0 ends at byte 3000000" : "file2 ends at byte 100"));
    }
  }
  EXPECT_EQ(seen, 3);
}

TEST_P(ReadBackendTest, RefusesImpossibleRequestsWhole) {
  const auto backend = open();
  if (!backend) GTEST_SKIP() << "no io_uring here";
  AlignedBytes window(8192);
  const ReadRequest good{0, 0, 4096, 4096, window.data(), 1};
  ReadRequest bad = good;
  bad.file = 99;
  EXPECT_EQ(backend->submit(std::vector{good, bad}).id(), "read_no_such_file");
  bad = good;
  bad.expected = 4097;
  EXPECT_EQ(backend->submit(std::vector{good, bad}).id(), "read_bad_range");
  if (backend->access(0).direct) {
    for (int field = 0; field < 3; ++field) {
      bad = {0, field == 0 ? 512U : 0U, field == 1 ? 4000U : 4096U, 1, window.data() + (field == 2 ? 64 : 0), 2};
      EXPECT_EQ(backend->submit(std::vector{good, bad}).id(), "read_misaligned");
    }
  }
  EXPECT_EQ(backend->inFlight(), 0U);
}

TEST_P(ReadBackendTest, MayBeDroppedWithReadsInFlight) {
  AlignedBytes window(5'000'192);
  auto backend = open();
  if (!backend) GTEST_SKIP() << "no io_uring here";
  const ReadRequest request{0, 0, alignUp(5'000'123), 5'000'123, window.data(), 1};
  ASSERT_TRUE(backend->submit({&request, 1}).isOk());
  backend.reset();
  // Nothing writes here any more; the sanitizer and the next lines would see it.
  std::fill_n(window.data(), 5'000'192, std::byte{0});
  EXPECT_EQ(std::count(window.data(), window.data() + 5'000'192, std::byte{0}), 5'000'192);
}

std::string wayName(const ::testing::TestParamInfo<std::tuple<IoKind, bool, int>>& way) {
  return testing::kindName(std::get<0>(way.param)) + (std::get<1>(way.param) ? "Direct" : "Buffered") +
         std::to_string(std::get<2>(way.param));
}

INSTANTIATE_TEST_SUITE_P(Ways, ReadBackendTest,
                         ::testing::Combine(::testing::Values(testing::kThreadlessKind, IoKind::kThreads),
                                            ::testing::Bool(), ::testing::Values(1, 3, 8)),
                         wayName);

TEST(ReadBackend, BufferedReadsNeedNoAlignment) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> paths{folder.path() / std::filesystem::path(u8"Größe 重み")};
  testing::writeBytes(paths[0], testing::patternBytes(3, 9000));
  for (const IoKind kind : {IoKind::kAuto, IoKind::kThreads}) {
    auto backend = openReadBackend(paths, {kind, false, 2});
    ASSERT_TRUE(backend.isOk()) << backend.status().message();
    std::vector<std::byte> bytes(801);
    const ReadRequest request{0, 4001, 800, 800, bytes.data() + 1, 5};
    ASSERT_TRUE((*backend)->submit({&request, 1}).isOk());
    ReadCompletion completion;
    ASSERT_EQ((*backend)->poll({&completion, 1}, true), 1U);
    EXPECT_EQ(completion.bytes, 800U);
    for (std::uint64_t i = 0; i < 800; ++i) ASSERT_EQ(bytes[i + 1], byteAt(3, 4001 + i));
  }
}

class ReadBackendKinds : public ::testing::TestWithParam<IoKind> {};

TEST_P(ReadBackendKinds, ManyReadsOfOneFileAtOnceDoNotCollide) {
  constexpr std::uint64_t kReads = 64;
  constexpr std::uint64_t kBytes = 32'768;
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> paths{folder.path() / "file"};
  testing::writeBytes(paths[0], testing::patternBytes(4, kReads * kBytes));
  for (const bool direct : {true, false}) {
    auto backend = openReadBackend(paths, {GetParam(), direct, static_cast<int>(kReads)});
    if (!backend && backend.status().code() == Code::kUnavailable) GTEST_SKIP() << "no io_uring here";
    ASSERT_TRUE(backend.isOk()) << backend.status().message();
    AlignedBytes window(kReads * kBytes);
    std::vector<ReadRequest> requests;
    for (std::uint64_t i = 0; i < kReads; ++i) {
      // Neighbours in the file are not neighbours in memory.
      const std::uint64_t offset = i * 37 % kReads * kBytes;
      requests.push_back({0, offset, kBytes, kBytes, window.data() + i * kBytes, i});
    }
    ASSERT_TRUE((*backend)->submit(requests).isOk());
    std::vector<ReadCompletion> completions(kReads);
    while ((*backend)->inFlight() > 0) {
      const std::size_t count = (*backend)->poll(completions, true);
      for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(completions[i].status.isOk());
    }
    for (std::uint64_t i = 0; i < kReads * kBytes; ++i) {
      ASSERT_EQ(window.data()[i], byteAt(4, requests[i / kBytes].offset + i % kBytes)) << i;
    }
  }
}

/// Makes the file as long as that without filling the drive.
void makeSparse(const std::filesystem::path& path, std::uint64_t bytes) {
  testing::writeBytes(path, {});
#if defined(_WIN32)
  HANDLE file = CreateFileW(path.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, 0, nullptr);
  DWORD ignored = 0;
  (void)DeviceIoControl(file, FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &ignored, nullptr);
  (void)CloseHandle(file);
#endif
  std::filesystem::resize_file(path, bytes);
}

TEST_P(ReadBackendKinds, OffsetsBeyondFourGibibytes) {
  constexpr std::uint64_t kOffset = (std::uint64_t{5} << 30) + 8192;
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> paths{folder.path() / "file"};
  makeSparse(paths[0], kOffset);
  const std::vector<std::byte> tail = testing::patternBytes(6, 5000);
  std::ofstream(paths[0], std::ios::binary | std::ios::app)
      .write(reinterpret_cast<const char*>(tail.data()), static_cast<std::streamsize>(tail.size()));
  auto backend = openReadBackend(paths, {GetParam(), true, 2});
  if (!backend && backend.status().code() == Code::kUnavailable) GTEST_SKIP() << "no io_uring here";
  ASSERT_TRUE(backend.isOk()) << backend.status().message();
  AlignedBytes window(8192);
  const ReadRequest request{0, kOffset, 8192, tail.size(), window.data(), 0};
  ASSERT_TRUE((*backend)->submit({&request, 1}).isOk());
  ReadCompletion completion;
  ASSERT_EQ((*backend)->poll({&completion, 1}, true), 1U);
  ASSERT_TRUE(completion.status.isOk()) << completion.status.message();
  EXPECT_TRUE(std::equal(tail.begin(), tail.end(), window.data()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ReadBackendKinds, ::testing::Values(testing::kThreadlessKind, IoKind::kThreads),
                         [](const auto& kind) { return testing::kindName(kind.param); });

#if !defined(COLIBRI_HAVE_URING)
TEST(ReadBackend, WithoutUringAskingForItIsAnswered) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> paths{folder.path() / "file"};
  testing::writeBytes(paths[0], testing::patternBytes(9, 10));
  const auto backend = openReadBackend(paths, {IoKind::kUring, true, 2});
  EXPECT_EQ(backend.status().code(), Code::kUnavailable);
  EXPECT_THAT(backend.status().message(), HasSubstr("no io_uring"));
}
#endif

/// Something that has a name but is no file.
std::filesystem::path deviceIn([[maybe_unused]] const std::filesystem::path& folder) {
#if defined(_WIN32)
  return "NUL";
#else
  const std::filesystem::path pipe = folder / "pipe";
  EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  return pipe;
#endif
}

TEST(ReadBackend, WillNotOpenWhatIsNoFile) {
  const TemporaryFolder folder;
  const std::filesystem::path device = deviceIn(folder.path());
  for (const std::filesystem::path& path : {folder.path() / "absent.safetensors", folder.path(), device}) {
    for (const bool direct : {true, false}) {
      const auto backend = openReadBackend({&path, 1}, {IoKind::kAuto, direct, 4});
      ASSERT_FALSE(backend.isOk());
      EXPECT_EQ(backend.status().code(), Code::kIo);
      EXPECT_THAT(backend.status().message(), HasSubstr(path.filename().string()));
    }
  }
}

#if defined(__linux__)
TEST(ReadBackend, ReadsMemoryFileSystemsBuffered) {
  struct statfs info {};
  if (statfs("/dev/shm", &info) != 0 || info.f_type != 0x01021994) GTEST_SKIP() << "no tmpfs at /dev/shm";
  const TemporaryFolder folder("/dev/shm");
  if (folder.path().empty()) GTEST_SKIP() << "/dev/shm is not writable";
  const std::vector<std::filesystem::path> paths{folder.path() / "file"};
  testing::writeBytes(paths[0], testing::patternBytes(9, 70'001));
  auto backend = openReadBackend(paths, {});
  ASSERT_TRUE(backend.isOk());
  EXPECT_FALSE((*backend)->access(0).direct);
  EXPECT_THAT((*backend)->access(0).reason, HasSubstr("memory"));
  AlignedBytes window(alignUp(70'001));
  const ReadRequest request{0, 0, alignUp(70'001), 70'001, window.data(), 0};
  ASSERT_TRUE((*backend)->submit({&request, 1}).isOk());
  ReadCompletion completion;
  ASSERT_EQ((*backend)->poll({&completion, 1}, true), 1U);
  ASSERT_TRUE(completion.status.isOk());
  for (std::uint64_t i = 0; i < 70'001; ++i) ASSERT_EQ(window.data()[i], byteAt(9, i));
}
#endif

}  // namespace
}  // namespace colibri

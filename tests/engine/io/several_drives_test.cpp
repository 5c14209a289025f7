// Copies of files on several drives: how reads are split, what becomes of a copy that fails, and who goes first.

#include "engine/io/io_kinds.h"
#include "engine/io/test_files.h"
#include "io/piece_queue.h"
#include "io/read_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace colibri {
namespace {

using testing::AlignedBytes;
using testing::byteAt;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

constexpr std::uint64_t kPieces = 12;
constexpr std::uint64_t kBytes = kPieces * kReadPieceBytes;

class SeveralDrives : public ::testing::Test {
protected:
  /// The same bytes in `folders` folders.
  void makeCopies(std::uint32_t folders) {
    const std::vector<std::byte> bytes = testing::patternBytes(1, kBytes);
    ReadFile file;
    for (std::uint32_t i = 0; i < folders; ++i) {
      const std::filesystem::path folder = m_folder.path() / std::to_string(i);
      std::filesystem::create_directories(folder);
      testing::writeBytes(folder / "shard", bytes);
      file.push_back({folder / "shard", i});
      m_options.drives.push_back({folder.string(), 0, 1});
    }
    m_files = {file};
  }

  std::unique_ptr<ReadBackend> open(IoKind kind) {
    m_options.kind = kind;
    auto backend = openReadBackend(m_files, m_options);
    if (!backend && backend.status().code() == Code::kUnavailable) return nullptr;
    EXPECT_TRUE(backend.isOk()) << backend.status().message();
    return std::move(backend).value();
  }

  /// Reads everything once, as one request a piece; the first failure.
  Status readAll(ReadBackend& backend) {
    std::vector<ReadRequest> requests;
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      ReadRequest request;
      request.offset = i * kReadPieceBytes;
      request.bytes = request.expected = kReadPieceBytes;
      request.target = m_window.data() + request.offset;
      request.tag = i;
      requests.push_back(request);
    }
    COLIBRI_RETURN_IF_ERROR(backend.submit(requests));
    Status first;
    std::array<ReadCompletion, 4> done;
    while (backend.inFlight() > 0) {
      const std::size_t count = backend.poll(done, true);
      for (std::size_t i = 0; i < count; ++i) {
        if (first.isOk()) first = done[i].status;
      }
    }
    for (std::uint64_t i = 0; first.isOk() && i < kBytes; ++i) {
      if (m_window.data()[i] != byteAt(1, i)) return Status(Code::kInternal, "wrong_byte", std::to_string(i));
    }
    return first;
  }

  TemporaryFolder m_folder;
  std::vector<ReadFile> m_files;
  ReadOptions m_options;
  AlignedBytes m_window{kBytes};
};

class SeveralDrivesKinds : public SeveralDrives, public ::testing::WithParamInterface<IoKind> {};

TEST_P(SeveralDrivesKinds, BothCopiesAreReadAndTheBytesAreTheSame) {
  makeCopies(2);
  const auto backend = open(GetParam());
  if (!backend) GTEST_SKIP() << "no io_uring here";
  ASSERT_TRUE(readAll(*backend).isOk());
  EXPECT_THAT(backend->takeNotices(), ::testing::IsEmpty());
  const std::vector<DriveCounters> drives = backend->driveCounters();
  ASSERT_EQ(drives.size(), 2U);
  EXPECT_EQ(drives[0].bytesRead + drives[1].bytesRead, kBytes);
  EXPECT_GT(drives[0].bytesRead, 0U);
  EXPECT_GT(drives[1].bytesRead, 0U);
  EXPECT_EQ(drives[1].path, (m_folder.path() / "1").string());
  for (const DriveCounters& drive : drives) {
    EXPECT_EQ(drive.requests, drive.bytesRead / kReadPieceBytes);
    EXPECT_GT(drive.busySeconds, 0);
    EXPECT_GT(drive.latencyMeanSeconds, 0);
    EXPECT_GE(drive.latencyP99Seconds, drive.latencyMeanSeconds);
    EXPECT_GE(drive.meanOutstandingBytes, static_cast<double>(kReadPieceBytes) * 0.99);
    EXPECT_EQ(drive.outstandingBytes, 0U);
    EXPECT_TRUE(drive.fault.empty());
  }
}

TEST_P(SeveralDrivesKinds, AFailingMirrorIsHealedAndNotReadAnyMore) {
  makeCopies(2);
  const auto backend = open(GetParam());
  if (!backend) GTEST_SKIP() << "no io_uring here";
  // The copy loses its bytes after it was opened, as a drive that comes loose would.
  std::filesystem::resize_file(m_files[0][1].path, 0);
  ASSERT_TRUE(readAll(*backend).isOk());
  const std::vector<std::string> notices = backend->takeNotices();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_THAT(notices[0], HasSubstr((m_folder.path() / "1").string()));
  EXPECT_THAT(notices[0], HasSubstr("not read any more"));
  EXPECT_TRUE(backend->takeNotices().empty());
  const DriveCounters before = backend->driveCounters()[1];
  EXPECT_FALSE(before.fault.empty());
  ASSERT_TRUE(readAll(*backend).isOk());
  EXPECT_EQ(backend->driveCounters()[1].requests, before.requests);
}

TEST_P(SeveralDrivesKinds, AFailingPrimaryIsReadFromTheMirrorAndTold) {
  makeCopies(2);
  const auto backend = open(GetParam());
  if (!backend) GTEST_SKIP() << "no io_uring here";
  std::filesystem::resize_file(m_files[0][0].path, 0);
  ASSERT_TRUE(readAll(*backend).isOk());
  const std::vector<std::string> notices = backend->takeNotices();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_THAT(notices[0], HasSubstr("instead"));
}

TEST_P(SeveralDrivesKinds, WhenAllCopiesFailTheErrorIsToldAndALaterReadTriesAgain) {
  makeCopies(2);
  const auto backend = open(GetParam());
  if (!backend) GTEST_SKIP() << "no io_uring here";
  for (const FileCopy& copy : m_files[0]) std::filesystem::resize_file(copy.path, 0);
  EXPECT_EQ(readAll(*backend).code(), Code::kIo);
  testing::writeBytes(m_files[0][0].path, testing::patternBytes(1, kBytes));
  EXPECT_TRUE(readAll(*backend).isOk());
}

TEST_P(SeveralDrivesKinds, AMirrorThatCannotBeOpenedIsLeftOutWithANotice) {
  makeCopies(3);
  std::filesystem::remove(m_files[0][1].path);
  const auto backend = open(GetParam());
  if (!backend) GTEST_SKIP() << "no io_uring here";
  ASSERT_TRUE(readAll(*backend).isOk());
  EXPECT_EQ(backend->takeNotices().size(), 1U);
  EXPECT_EQ(backend->driveCounters()[1].requests, 0U);
  EXPECT_GT(backend->driveCounters()[2].requests, 0U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SeveralDrivesKinds, ::testing::Values(testing::kThreadlessKind, IoKind::kThreads),
                         [](const auto& kind) { return testing::kindName(kind.param); });

/// The decisions alone, without reading anything.
class PieceChoice : public SeveralDrives {
protected:
  void openTable(std::uint32_t folders) {
    makeCopies(folders);
    auto files = FileTable::open(m_files, false);
    ASSERT_TRUE(files.isOk());
    m_table = std::move(files).value();
  }
  static ReadRequest request(std::uint64_t pieces, std::uint64_t tag, ReadPriority priority = ReadPriority::kDemand) {
    ReadRequest read;
    read.bytes = read.expected = pieces * kReadPieceBytes;
    read.tag = tag;
    read.priority = priority;
    return read;
  }
  std::unique_ptr<FileTable> m_table;
};

TEST_F(PieceChoice, GivenWeightsDecideTheSplit) {
  openTable(2);
  m_options.queueDepth = 64;
  m_options.drives[1].weight = 3;
  PieceQueue queue(*m_table, m_options);
  queue.add(request(40, 1));
  std::array<int, 2> taken{};
  ReadPiece piece;
  while (queue.take(piece)) ++taken[piece.copy.copy];
  EXPECT_EQ(taken[0], 10);
  EXPECT_EQ(taken[1], 30);
}

TEST_F(PieceChoice, AFullDriveIsWaitedForWhenItsWeightSaysSo) {
  openTable(2);
  m_options.queueDepth = 2;
  m_options.drives[1].weight = 1000;
  PieceQueue queue(*m_table, m_options);
  queue.add(request(5, 1));
  ReadPiece piece;
  int taken = 0;
  while (queue.take(piece)) {
    EXPECT_EQ(piece.copy.copy, 1U);
    ++taken;
  }
  EXPECT_EQ(taken, 2);
}

TEST_F(PieceChoice, ADriveThatIsSlowerGetsLess) {
  openTable(2);
  m_options.queueDepth = 4;
  PieceQueue queue(*m_table, m_options);
  queue.add(request(60, 1));
  std::vector<ReadPiece> flying;
  std::array<int, 2> done{};
  ReadPiece piece;
  while (queue.take(piece)) flying.push_back(piece);
  // The second drive ends one piece in the time in which the first ends three.
  for (int tick = 0; !flying.empty(); ++tick) {
    const std::uint32_t drive = tick % 4 == 3 ? 1 : 0;
    auto next = flying.begin();
    while (next != flying.end() && next->copy.copy != drive) ++next;
    if (next == flying.end()) continue;
    ++done[drive];
    next->done = next->bytes;
    queue.finish(*next, Status::ok());
    flying.erase(next);
    while (queue.take(piece)) flying.push_back(piece);
  }
  EXPECT_EQ(done[0] + done[1], 60);
  EXPECT_NEAR(done[1], 15, 3);
}

TEST_F(PieceChoice, DemandGoesBeforeCertainBeforePredictedAndAPromotionCounts) {
  openTable(1);
  m_options.queueDepth = 64;
  PieceQueue queue(*m_table, m_options);
  queue.add(request(1, 1, ReadPriority::kPredicted));
  queue.add(request(1, 2, ReadPriority::kCertain));
  queue.add(request(1, 3, ReadPriority::kPredicted));
  queue.add(request(1, 4));
  queue.promote(3, ReadPriority::kDemand);
  std::vector<std::uint64_t> order;
  ReadPiece piece;
  ReadCompletion completion;
  while (queue.take(piece)) {
    piece.done = piece.bytes;
    queue.finish(piece, Status::ok());
    ASSERT_EQ(queue.takeCompletions({&completion, 1}), 1U);
    order.push_back(completion.tag);
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{4, 3, 2, 1}));
}

TEST_F(PieceChoice, PredictedReadsLeaveHalfOfThePlacesFree) {
  openTable(1);
  m_options.queueDepth = 8;
  PieceQueue queue(*m_table, m_options);
  queue.add(request(20, 1, ReadPriority::kPredicted));
  ReadPiece piece;
  int taken = 0;
  while (queue.take(piece)) ++taken;
  EXPECT_EQ(taken, 4);
  queue.add(request(20, 2));
  while (queue.take(piece)) ++taken;
  EXPECT_EQ(taken, 8);
}

TEST_F(PieceChoice, APieceTriesEachCopyOnce) {
  openTable(3);
  m_options.queueDepth = 1;
  PieceQueue queue(*m_table, m_options);
  queue.add(request(1, 7));
  ReadPiece piece;
  std::vector<std::uint32_t> tried;
  while (tried.size() < 10 && queue.take(piece)) {
    tried.push_back(piece.copy.copy);
    queue.finish(piece, Status(Code::kIo, "read_failed", "no"));
  }
  std::sort(tried.begin(), tried.end());
  EXPECT_EQ(tried, (std::vector<std::uint32_t>{0, 1, 2}));
  ReadCompletion completion;
  ASSERT_EQ(queue.takeCompletions({&completion, 1}), 1U);
  EXPECT_EQ(completion.status.id(), "read_failed");
}

}  // namespace
}  // namespace colibri

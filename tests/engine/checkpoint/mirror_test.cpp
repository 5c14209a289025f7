// Copies on a second drive: what is planned, what is copied, and how it goes on after an interruption.
#include "base/hash.h"
#include "checkpoint/mirror_file.h"
#include "checkpoint/mirror_receipt.h"
#include "mirror_fixture.h"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <span>

namespace colibri::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(Mirror, PlanOrdersShardsByWhatTheyEarn) {
  const MirrorPlan result = plan();
  ASSERT_EQ(result.shards.size(), 11U);
  std::uint64_t experts = 0;
  std::uint64_t planned = 0;
  for (std::size_t i = 0; i < result.shards.size(); ++i) {
    const MirrorShard& shard = result.shards[i];
    EXPECT_EQ(shard.bytes, original(shard.name).size());
    EXPECT_EQ(shard.state, shard.expertBytes > 0 ? MirrorState::kPlanned : MirrorState::kNoExperts) << shard.name;
    if (i > 0) {
      EXPECT_LE(shard.expertBytes, result.shards[i - 1].expertBytes);
    }
    experts += shard.expertBytes;
    if (shard.state == MirrorState::kPlanned) planned += shard.bytes;
  }
  const auto info = inspectCheckpoint(model());
  ASSERT_TRUE(info);
  EXPECT_EQ(experts, info->bytes.routedExperts);
  EXPECT_EQ(result.expertBytes, experts);
  EXPECT_EQ(result.coveredExpertBytes, experts);
  EXPECT_EQ(result.copyBytes, planned);
  EXPECT_EQ(result.presentBytes, 0U);
  EXPECT_EQ(result.modelId, info->modelId);
  EXPECT_EQ(result.rateGain, 1) << "both are on one drive";
  EXPECT_FALSE(fs::exists(folder())) << "a plan writes nothing";
  EXPECT_THAT(result.warnings, Contains(HasSubstr("same drive")));
}

TEST_F(Mirror, PlanTakesWhatFits) {
  const std::vector<std::string> names = earning();
  ASSERT_GE(names.size(), 3U);
  const std::uint64_t two = original(names[0]).size() + original(names[1]).size();
  const auto planned = [](const MirrorPlan& result) {
    std::vector<std::string> list;
    for (const MirrorShard& shard : result.shards) {
      if (shard.state == MirrorState::kPlanned) list.push_back(shard.name);
    }
    return list;
  };
  MirrorOptions options = small();
  options.maxBytes = two;
  MirrorPlan result = plan(options);
  EXPECT_EQ(planned(result), (std::vector<std::string>{names[0], names[1]}));
  EXPECT_EQ(result.copyBytes, two);
  EXPECT_LT(result.coveredExpertBytes, result.expertBytes);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("not fit")));

  // The reserve is kept: the same by a drive with exactly that much more.
  options = small();
  options.reserveBytes = 1000000;
  const auto source = openMirrorSource(model(), folder(), {});
  ASSERT_TRUE(source);
  MirrorSystem system = MirrorSystem::real();
  std::uint64_t available = two + options.reserveBytes;
  system.freeBytes = [&](const fs::path&) { return Result<std::uint64_t>(available); };
  auto limited = planOf(system, *source, std::nullopt, options);
  ASSERT_TRUE(limited);
  EXPECT_EQ(planned(*limited), (std::vector<std::string>{names[0], names[1]}));
  --available;
  limited = planOf(system, *source, std::nullopt, options);
  ASSERT_TRUE(limited);
  EXPECT_NE(planned(*limited), (std::vector<std::string>{names[0], names[1]}));
  EXPECT_LE(limited->copyBytes, available - options.reserveBytes);
  available = 5;  // less than the reserve
  limited = planOf(system, *source, std::nullopt, options);
  ASSERT_TRUE(limited);
  EXPECT_THAT(planned(*limited), IsEmpty());
}

TEST_F(Mirror, PlanOfChosenShards) {
  MirrorPlan result = plan(only({kEmbedding, "3", "5-6"}));
  std::set<std::string> planned;
  for (const MirrorShard& shard : result.shards) {
    if (shard.state == MirrorState::kPlanned)
      planned.insert(shard.name);
    else
      EXPECT_EQ(shard.state, MirrorState::kNotChosen);
  }
  EXPECT_EQ(planned, (std::set<std::string>{kEmbedding, kLayer, "model-00005-of-00011.safetensors",
                                            "model-00006-of-00011.safetensors"}));
  for (const char* wrong : {"x", "0", "12", "3-2", "1-", "-1", "1-12", "99999999999999999999999", "../a.safetensors"}) {
    expectError(planMirror(model(), folder(), only({wrong})).status(), Code::kUsage, "unknown_shard");
  }
}

TEST_F(Mirror, GainOfTwoDrives) {
  EXPECT_DOUBLE_EQ(mirrorRateGain(1e9, 1e9, 1), 2);
  EXPECT_DOUBLE_EQ(mirrorRateGain(1e9, 3e9, 1), 4);
  EXPECT_DOUBLE_EQ(mirrorRateGain(1e9, 1e9, 0.5), 2);  // half of the bytes are enough for half of the reads
  EXPECT_DOUBLE_EQ(mirrorRateGain(1e9, 3e9, 0.5), 2);  // the other half comes from the model's drive
  EXPECT_DOUBLE_EQ(mirrorRateGain(1e9, 1e9, 0.2), 1.25);
  EXPECT_DOUBLE_EQ(mirrorRateGain(1e9, 1e9, 0), 1);
  // Not claimed on one drive, whatever its rates are said to be.
  MirrorOptions options = small();
  options.modelBytesPerSecond = 1e9;
  options.mirrorBytesPerSecond = 1e9;
  EXPECT_EQ(plan(options).rateGain, 1);
}

TEST_F(Mirror, FoldersThatCannotHoldCopies) {
  const auto refused = [&](const fs::path& place) {
    expectError(planMirror(model(), place, small()).status(), Code::kUsage, "bad_mirror_folder");
    expectError(stageMirror(model(), place, small()).status(), Code::kUsage, "bad_mirror_folder");
    expectError(removeMirror(model(), place).status(), Code::kUsage, "bad_mirror_folder");
  };
  refused(model());
  refused(model() / "");
  refused(model() / "sub" / "folder");
  refused(model() / ".." / "tiny");
  refused(model() / "config.json");
  refused(model() / "config.json" / "x");
  refused(fs::path());
  fs::create_symlink(model(), m_other.path() / "link");
  refused(m_other.path() / "link");
  refused(m_other.path() / "link" / "sub");
  // Beside the model is fine.
  EXPECT_TRUE(planMirror(model(), s_master->path() / "tiny-mirror", small()));
  // Shards in further folders are as safe as those in the model's.
  const fs::path split = m_other.path() / "split";
  const fs::path rest = m_other.path() / "rest";
  fs::copy(model(), split);
  fs::create_directory(rest);
  fs::create_directories(split / "sub" / "folder");
  expectError(stageMirror(split, split / "sub" / "folder", small()).status(), Code::kUsage, "bad_mirror_folder");
  expectError(stageMirror(split, split / "sub" / "new", small()).status(), Code::kUsage, "bad_mirror_folder");
  fs::rename(split / kLayer, rest / kLayer);
  MirrorOptions options = small();
  options.shardDirs = {rest};
  expectError(stageMirror(split, rest, options).status(), Code::kUsage, "bad_mirror_folder");
  const auto staged = stageMirror(split, folder(), options);
  ASSERT_TRUE(staged) << staged.status().message();
  EXPECT_EQ(copyOf(kLayer), original(kLayer));
}

TEST_F(Mirror, StageCopiesChecksAndWritesTheReceipt) {
  MirrorEvents events;
  std::vector<std::string> order;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  events.planned = [&](const MirrorPlan& result) {
    EXPECT_TRUE(order.empty());
    order.push_back("plan");
    EXPECT_GT(result.copyBytes, 0U);
  };
  events.progress = [&](const MirrorProgress& progress) {
    EXPECT_GT(progress.doneBytes, last);
    last = progress.doneBytes;
    total = progress.totalBytes;
  };
  events.copied = [&](const MirrorCopied& shard) { order.push_back(shard.name); };
  const auto staged = stage(small(), events);
  ASSERT_TRUE(staged) << staged.status().message();
  EXPECT_EQ(last, total);

  std::vector<std::string> names = earning();
  ASSERT_EQ(staged->shards.size(), names.size());
  std::uint64_t bytes = 0;
  for (const MirrorCopied& shard : staged->shards) {
    EXPECT_TRUE(shard.copied);
    EXPECT_EQ(shard.resumedBytes, 0U);
    EXPECT_EQ(copyOf(shard.name), original(shard.name));
    EXPECT_EQ(shard.sha256, sha256Hex(std::as_bytes(std::span(original(shard.name)))));
    bytes += shard.bytes;
  }
  EXPECT_EQ(staged->copiedBytes, bytes);
  names.insert(names.begin(), "plan");
  EXPECT_EQ(order, names);

  names.erase(names.begin());
  std::set<std::string> expected(names.begin(), names.end());
  expected.insert(std::string(kReceiptName));
  EXPECT_EQ(files(), expected) << "nothing else is left behind";
  const auto receipt = parseReceipt(copyOf(std::string(kReceiptName)));
  ASSERT_TRUE(receipt) << receipt.status().message();
  EXPECT_EQ(receipt->modelId, plan().modelId);
  EXPECT_EQ(receipt->entries.size(), names.size());
  EXPECT_THAT(receipt->partials, IsEmpty());

  EXPECT_EQ(plan().copyBytes, 0U);
  EXPECT_EQ(plan().presentBytes, bytes);
  const auto again = stage();
  ASSERT_TRUE(again);
  EXPECT_THAT(again->shards, IsEmpty()) << "nothing is read again";
  EXPECT_EQ(verify(), Found{});
  EXPECT_EQ(verify(true), Found{});
  EXPECT_EQ(m_verified.copies, names.size());
  EXPECT_EQ(m_verified.bytes, bytes);
}

TEST_F(Mirror, MaxCountsWhatIsThereAlready) {
  const std::vector<std::string> names = earning();
  MirrorOptions options = small();
  options.maxBytes = original(names[0]).size() + original(names[1]).size();
  expectStaged(options);
  EXPECT_EQ(files(), (std::set<std::string>{names[0], names[1], std::string(kReceiptName)}));
  const auto again = stage(options);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->copiedBytes, 0U);
}

TEST_F(Mirror, GoesOnFromWhereverItWasCut) {
  const std::string& bytes = original(kLayer);
  std::mt19937 random(7);
  std::vector<std::size_t> cuts{0, 1, bytes.size() - 1, bytes.size()};
  for (int i = 0; i < 8; ++i) cuts.push_back(random() % bytes.size());
  for (const std::size_t cut : cuts) {
    // A drive that fails after so many bytes, as on a loss of power or of space.
    std::size_t left = cut;
    m_system.write = [&](int descriptor, std::span<const std::byte> piece, std::uint64_t offset) -> std::int64_t {
      if (left == 0) {
        errno = EIO;
        return -1;
      }
      const std::size_t size = std::min(piece.size(), left);
      left -= size;
      return ::pwrite(descriptor, piece.data(), size, static_cast<off_t>(offset));
    };
    const auto first = stage(only({kLayer}));
    if (cut < bytes.size()) {
      expectError(first.status(), Code::kIo, "write_failed");
      EXPECT_EQ(copyOf(kLayer + ".partial"), bytes.substr(0, cut));
      EXPECT_FALSE(fs::exists(folder() / kLayer)) << "never half a shard under its name";
      EXPECT_EQ(plan(only({kLayer})).copyBytes, bytes.size() - cut);
      EXPECT_EQ(verify().count("W leftover_partial"), 1U);
      m_system = MirrorSystem::real();
      const auto second = stage(only({kLayer}));
      ASSERT_TRUE(second) << second.status().message();
      EXPECT_EQ(second->shards.at(0).resumedBytes, cut);
      EXPECT_EQ(second->copiedBytes, bytes.size() - cut);
    } else {
      EXPECT_TRUE(first) << first.status().message();
    }
    EXPECT_EQ(copyOf(kLayer), bytes);
    EXPECT_EQ(files(), (std::set<std::string>{kLayer, std::string(kReceiptName)}));
    EXPECT_EQ(verify(true), Found{});
    fs::remove_all(folder());
  }
}

TEST_F(Mirror, WhatIsDamagedInAnInterruptedCopyIsWrittenAnew) {
  const std::string& bytes = original(kLayer);
  Cancellation cancellation;
  MirrorEvents events;
  events.progress = [&](const MirrorProgress&) { cancellation.cancel(); };
  expectError(stage(only({kLayer}), events, cancellation).status(), Code::kCancelled, "cancelled");
  const fs::path partial = folder() / (kLayer + ".partial");
  ASSERT_TRUE(fs::exists(partial));
  // On record as ours or not, a second name of the model's own file is never written through.
  fs::remove(partial);
  fs::create_hard_link(model() / kEmbedding, partial);
  expectError(stage(only({kLayer})).status(), Code::kUsage, "mirror_conflict");
  fs::remove(partial);
  for (const std::string& left : {std::string(bytes.size(), '\0'), std::string("rubbish"), bytes + "and more",
                                  bytes.substr(0, 1000) + std::string(1000, '\0')}) {
    writeFile(partial, left);
    const auto staged = stage(only({kLayer}));
    ASSERT_TRUE(staged) << staged.status().message();
    EXPECT_EQ(copyOf(kLayer), bytes);
    EXPECT_EQ(verify(true), Found{});
    fs::rename(folder() / kLayer, partial);  // as if it had been cut once more
  }
}

TEST_F(Mirror, ShardsOfSeveralPieces) {
  constexpr std::size_t kBytes = (std::size_t{20} << 20) + 5;
  const std::string header = "{" + entry("embed.weight", "U8", "[20971525]", 0, kBytes) + "}";
  std::string bytes = shardBytes(header, kBytes);
  for (std::size_t i = bytes.size() - kBytes; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 2654435761U >> 16);
  const fs::path large = m_other.path() / "large";
  const std::string name = "model.safetensors";
  fs::create_directory(large);
  fs::copy(model() / "config.json", large / "config.json");
  writeFile(large / name, bytes);
  // A wish to stop is seen within the shard, after the piece in hand.
  Cancellation cancellation;
  MirrorEvents events;
  events.progress = [&](const MirrorProgress&) { cancellation.cancel(); };
  expectError(stageMirror(large, folder(), only({"1"}), events, cancellation).status(), Code::kCancelled, "cancelled");
  EXPECT_EQ(fs::file_size(folder() / (name + ".partial")), std::size_t{8} << 20);
  fs::remove_all(folder());
  for (const std::size_t cut : {std::size_t{0}, std::size_t{8} << 20, (std::size_t{9} << 20) + 3, bytes.size() - 1}) {
    std::uint64_t left = cut;
    m_system.write = [&](int descriptor, std::span<const std::byte> piece, std::uint64_t offset) -> std::int64_t {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), left));
      left -= size;
      return size == 0 ? 0 : ::pwrite(descriptor, piece.data(), size, static_cast<off_t>(offset));
    };
    expectError(stageThrough(m_system, large, folder(), only({"1"}), {}, {}).status(), Code::kIo, "disk_full");
    const fs::path partial = folder() / (name + ".partial");
    EXPECT_EQ(fs::file_size(partial), cut);
    std::uint64_t expected = cut;
    if (cut > std::size_t{9} << 20) {  // a byte of the second piece was lost: that piece alone is written anew
      std::string damaged = readWhole(partial);
      damaged[std::size_t{9} << 20] = static_cast<char>(damaged[std::size_t{9} << 20] ^ 1);
      writeFile(partial, damaged);
      expected -= std::min<std::size_t>(cut - (std::size_t{8} << 20), std::size_t{8} << 20);
    }
    const auto staged = stageMirror(large, folder(), only({"1"}));
    ASSERT_TRUE(staged) << staged.status().message();
    EXPECT_EQ(staged->shards.at(0).resumedBytes, expected);
    EXPECT_TRUE(copyOf(name) == bytes);
    EXPECT_EQ(staged->shards.at(0).sha256, sha256Hex(std::as_bytes(std::span(bytes))));
    fs::remove_all(folder());
  }
}

TEST_F(Mirror, AForeignPartialIsLeftAlone) {
  fs::create_directory(folder());
  const fs::path partial = folder() / (kLayer + ".partial");
  writeFile(partial, "somebody else's");
  expectError(stage(only({kLayer})).status(), Code::kUsage, "mirror_conflict");
  EXPECT_EQ(readWhole(partial), "somebody else's");
  // Neither a link nor a second name of the model's own file is ever written through.
  fs::remove(partial);
  fs::create_symlink(model() / kLayer, partial);
  expectError(stage(only({kLayer})).status(), Code::kUsage, "mirror_conflict");
  fs::remove(partial);
  fs::create_hard_link(model() / kEmbedding, partial);
  expectError(stage(only({kLayer})).status(), Code::kUsage, "mirror_conflict");
  fs::remove(partial);
  ASSERT_EQ(::mkfifo(partial.c_str(), 0600), 0);
  expectError(stage(only({kLayer})).status(), Code::kUsage, "mirror_conflict");
  fs::remove(partial);
  // One that is the beginning of the shard is welcome, whoever made it.
  writeFile(partial, original(kLayer).substr(0, 4321));
  const auto staged = stage(only({kLayer}));
  ASSERT_TRUE(staged) << staged.status().message();
  EXPECT_EQ(staged->shards.at(0).resumedBytes, 4321U);
  EXPECT_EQ(copyOf(kLayer), original(kLayer));
}

TEST_F(Mirror, AFileThatIsNoCopyIsNeverOverwritten) {
  fs::create_directory(folder());
  std::string other = original(kLayer);
  other.back() = static_cast<char>(other.back() ^ 1);  // size and header equal
  for (const std::string& bytes : {std::string("short"), other}) {
    writeFile(folder() / kLayer, bytes);
    expectError(stage().status(), Code::kUsage, "mirror_conflict");
    EXPECT_EQ(copyOf(kLayer), bytes);
  }
  writeFile(folder() / kLayer, "short");
  const MirrorPlan result = plan();
  for (const MirrorShard& shard : result.shards) {
    EXPECT_EQ(shard.state == MirrorState::kConflict, shard.name == kLayer);
  }
  EXPECT_THAT(result.warnings, Contains(AllOf(HasSubstr(kLayer), HasSubstr("5 bytes"))));
}

TEST_F(Mirror, ACopyMadeByHandIsComparedAndKeptByRemove) {
  fs::create_directory(folder());
  writeFile(folder() / kLayer, original(kLayer));
  EXPECT_THAT(plan().warnings, Contains(HasSubstr("no entry in a receipt")));
  EXPECT_EQ(verify(), (Found{"E replica_unlisted", "W receipt_missing"}));
  EXPECT_FALSE(m_verified.ok);
  EXPECT_EQ(verify(true), Found{"W receipt_missing"});
  EXPECT_TRUE(m_verified.ok);
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.status().message();
  EXPECT_EQ(staged->shards.size(), earning().size());
  for (const MirrorCopied& shard : staged->shards) EXPECT_EQ(shard.copied, shard.name != kLayer);
  EXPECT_EQ(verify(), Found{});
  const auto removed = removeMirror(model(), folder());
  ASSERT_TRUE(removed) << removed.status().message();
  EXPECT_EQ(files(), std::set<std::string>{kLayer});
  EXPECT_THAT(removed->kept, ::testing::ElementsAre(HasSubstr(kLayer)));
}

TEST_F(Mirror, CancellingKeepsWhatIsThere) {
  Cancellation cancellation;
  MirrorEvents events;
  int copies = 0;
  events.copied = [&](const MirrorCopied&) {
    if (++copies == 2) cancellation.cancel();
  };
  expectError(stage(small(), events, cancellation).status(), Code::kCancelled, "cancelled");
  EXPECT_EQ(files().size(), 3U);
  EXPECT_EQ(verify(), Found{});
  const auto rest = stage();
  ASSERT_TRUE(rest) << rest.status().message();
  EXPECT_EQ(rest->shards.size(), earning().size() - 2);
  EXPECT_EQ(verify(true), Found{});
}

TEST_F(Mirror, AFullDriveKeepsTheCopyForLater) {
  const std::vector<std::string> names = earning();
  std::uint64_t left = original(names[0]).size() + 12345;  // fails inside the second shard
  m_system.write = [&](int descriptor, std::span<const std::byte> piece, std::uint64_t offset) -> std::int64_t {
    if (left == 0) {
      errno = ENOSPC;
      return -1;
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), left));
    left -= size;
    return ::pwrite(descriptor, piece.data(), size, static_cast<off_t>(offset));
  };
  const Status full = stage().status();
  expectError(full, Code::kIo, "disk_full");
  EXPECT_THAT(full.message(), HasSubstr("run the same command again"));
  EXPECT_EQ(copyOf(names[0]), original(names[0]));
  EXPECT_EQ(fs::file_size(folder() / (names[1] + ".partial")), 12345U);
  m_system = MirrorSystem::real();
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.status().message();
  EXPECT_EQ(staged->shards.at(0).resumedBytes, 12345U);
  EXPECT_EQ(verify(true), Found{});
}

TEST_F(Mirror, SpaceIsCheckedBeforeAndDuring) {
  // Before: chosen shards that do not fit are refused with the figures, and nothing is written.
  MirrorOptions options = only({kLayer});
  options.reserveBytes = 4000000;
  std::uint64_t available = original(kLayer).size() + options.reserveBytes - 1;
  m_system.freeBytes = [&](const fs::path&) { return Result<std::uint64_t>(available); };
  expectError(stage(options).status(), Code::kIo, "disk_full");
  EXPECT_FALSE(fs::exists(folder()));
  // During: somebody else takes the space away.
  ++available;
  int asked = 0;
  m_system.freeBytes = [&](const fs::path&) { return Result<std::uint64_t>(asked++ == 0 ? available : 4000000U); };
  const Status status = stage(options).status();
  expectError(status, Code::kIo, "disk_full");
  EXPECT_THAT(status.message(), HasSubstr("--reserve"));
  EXPECT_TRUE(fs::exists(folder() / (kLayer + ".partial")));
  m_system = MirrorSystem::real();
  expectStaged(only({kLayer}));
  EXPECT_EQ(verify(true), Found{});
}

TEST_F(Mirror, ARealFullDrive) {
  fs::create_directory(folder());
  const std::uint64_t size = original(kLayer).size();
  const std::string limit = "size=" + std::to_string((size / 4096 + 20) * 4096);
  if (::mount("tmpfs", folder().c_str(), "tmpfs", 0, limit.c_str()) != 0) {
    GTEST_SKIP() << "may not mount a small file system: " << std::strerror(errno);
  }
  MirrorEvents events;
  events.planned = [&](const MirrorPlan& result) {
    EXPECT_THAT(result.warnings, Contains(HasSubstr("in memory")));
    EXPECT_THAT(result.warnings, Not(Contains(HasSubstr("same drive"))));
    std::error_code error;
    writeFile(folder() / "filler",
              std::string(static_cast<std::size_t>(fs::space(folder(), error).available / 2), 'x'));
  };
  expectError(stage(only({kLayer}), events).status(), Code::kIo, "disk_full");
  EXPECT_GT(fs::file_size(folder() / (kLayer + ".partial")), 0U);
  fs::remove(folder() / "filler");
  const auto staged = stage(only({kLayer}));
  EXPECT_TRUE(staged) << staged.status().message();
  if (staged) {
    EXPECT_GT(staged->shards.at(0).resumedBytes, 0U);
    EXPECT_EQ(copyOf(kLayer), original(kLayer));
    MirrorOptions rates = small();
    rates.modelBytesPerSecond = 1e9;
    rates.mirrorBytesPerSecond = 1e9;
    EXPECT_FALSE(plan().rateGain) << "not known";
    const auto gain = plan(rates).rateGain;
    ASSERT_TRUE(gain);
    EXPECT_GT(*gain, 1);
    EXPECT_LE(*gain, 2);
  }
  EXPECT_EQ(::umount(folder().c_str()), 0);
}

TEST_F(Mirror, AFileSystemForSmallFilesOnly) {
  m_system.write = [](int, std::span<const std::byte>, std::uint64_t) -> std::int64_t {
    errno = EFBIG;
    return -1;
  };
  expectError(stage().status(), Code::kIo, "file_too_large");
}

TEST_F(Mirror, ADriveThatKeepsOtherBytesIsNoticed) {
  m_system.write = [](int descriptor, std::span<const std::byte> piece, std::uint64_t offset) -> std::int64_t {
    std::vector<std::byte> wrong(piece.begin(), piece.end());
    wrong.back() ^= std::byte{4};
    return ::pwrite(descriptor, wrong.data(), wrong.size(), static_cast<off_t>(offset));
  };
  expectError(stage(only({kLayer})).status(), Code::kIo, "copy_differs");
  EXPECT_FALSE(fs::exists(folder() / kLayer));
  m_system = MirrorSystem::real();
  expectStaged(only({kLayer}));
  EXPECT_EQ(copyOf(kLayer), original(kLayer));
}

}  // namespace
}  // namespace colibri::testing

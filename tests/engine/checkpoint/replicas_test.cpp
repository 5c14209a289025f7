// Which files in a mirror folder are taken for copies of a shard, and what is said about the others.
#include "checkpoint/replicas.h"

#include "checkpoint_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace colibri::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int kShards = 3;

std::string shardName(int number) {
  return "model-0000" + std::to_string(number) + "-of-00003.safetensors";
}

std::string shardOf(int number, std::size_t bytes = 16) {
  const std::string header =
      "{" + entry("t" + std::to_string(number), "U8", "[" + std::to_string(bytes) + "]", 0, bytes) + "}";
  return shardBytes(header, bytes);
}

/// A model of three shards and a mirror that holds exact copies of them, on another file system where there is one.
class Replicas : public ::testing::Test {
protected:
  void SetUp() override {
    std::string map;
    for (int i = 1; i <= kShards; ++i) {
      writeFile(m_model.path() / shardName(i), shardOf(i));
      map += (i == 1 ? "\"t" : ",\"t") + std::to_string(i) + "\":\"" + shardName(i) + "\"";
    }
    writeFile(m_model.path() / "model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
    const auto set = ShardSet::open(m_model.path());
    ASSERT_TRUE(set) << set.status().message();
    m_set = *set;
    fs::create_directory(mirror());
    for (int i = 1; i <= kShards; ++i) copyShard(i);
  }

  [[nodiscard]] fs::path mirror() const { return m_other.path() / "mirror"; }
  void copyShard(int number) const { writeFile(mirror() / shardName(number), shardOf(number)); }
  [[nodiscard]] Result<ReplicaSet> find(std::vector<fs::path> mirrors = {}) const {
    if (mirrors.empty()) mirrors = {mirror()};
    return findReplicas(*m_set, mirrors);
  }
  /// How many copies each shard has.
  [[nodiscard]] std::vector<std::size_t> counts(const std::vector<fs::path>& mirrors = {}) {
    const auto found = find(mirrors);
    EXPECT_TRUE(found) << found.status().message();
    std::vector<std::size_t> result;
    if (!found) return result;
    m_notices = found->notices;
    for (const auto& replicas : found->byShard) result.push_back(replicas.size());
    return result;
  }
  /// The second shard's file in the mirror is refused, the others are used.
  void expectSecondRefused(const std::string& why) {
    EXPECT_EQ(counts(), (std::vector<std::size_t>{1, 0, 1})) << why;
    EXPECT_THAT(m_notices, Contains(AllOf(HasSubstr(shardName(2)), HasSubstr(why))));
  }

  TempFolder m_model;
  TempFolder m_other;
  std::shared_ptr<const ShardSet> m_set;
  std::vector<std::string> m_notices;
};

TEST_F(Replicas, ExactCopiesAreAccepted) {
  const auto found = find();
  ASSERT_TRUE(found) << found.status().message();
  ASSERT_EQ(found->byShard.size(), 3U);
  for (int i = 0; i < kShards; ++i) {
    const auto& replicas = found->byShard[static_cast<std::size_t>(i)];
    ASSERT_EQ(replicas.size(), 1U);
    EXPECT_EQ(replicas[0].path, fs::canonical(mirror() / shardName(i + 1)));
    EXPECT_EQ(replicas[0].mirror, 0U);
  }
  // The test's folders share a drive, which is told once, not for each shard.
  ASSERT_EQ(found->notices.size(), 1U);
  EXPECT_THAT(found->notices[0], AllOf(HasSubstr("3 of 3 files"), HasSubstr("same drive")));
}

TEST_F(Replicas, NoMirrorsMeansNoCopies) {
  const auto found = findReplicas(*m_set, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->byShard.size(), 3U);
  EXPECT_TRUE(found->byShard[0].empty());
  EXPECT_TRUE(found->notices.empty());
}

TEST_F(Replicas, PartialMirrorsAreLegal) {
  fs::remove(mirror() / shardName(2));
  EXPECT_EQ(counts(), (std::vector<std::size_t>{1, 0, 1}));
  for (const std::string& notice : m_notices) EXPECT_THAT(notice, ::testing::Not(HasSubstr(shardName(2))));
}

TEST_F(Replicas, DataMayDifferButSizeAndHeaderMayNot) {
  std::string bytes = shardOf(2);
  bytes.back() = '\x7f';
  writeFile(mirror() / shardName(2), bytes);
  EXPECT_EQ(counts(), (std::vector<std::size_t>{1, 1, 1}));  // its content is for `mirror verify` to compare
  bytes = shardOf(2);
  bytes[bytes.find("U8")] = 'I';
  writeFile(mirror() / shardName(2), bytes);
  expectSecondRefused("header differs");
  // The very last byte of the header counts too.
  bytes = shardOf(2);
  bytes[bytes.rfind('}')] = ' ';
  writeFile(mirror() / shardName(2), bytes);
  expectSecondRefused("header differs");
}

TEST_F(Replicas, HeadersLongerThanOnePieceAreComparedToTheirEnd) {
  const std::string padding((std::size_t{5} << 19) + 3, ' ');
  const std::string header = "{" + entry("t2", "U8", "[4]", 0, 4) + padding + "}";
  writeFile(m_model.path() / shardName(2), shardBytes(header, 4));
  const auto set = ShardSet::open(m_model.path());
  ASSERT_TRUE(set) << set.status().message();
  m_set = *set;
  std::string bytes = shardBytes(header, 4);
  writeFile(mirror() / shardName(2), bytes);
  EXPECT_EQ(counts(), (std::vector<std::size_t>{1, 1, 1}));
  bytes[bytes.size() - 4 - 2] = '\n';  // the last blank
  writeFile(mirror() / shardName(2), bytes);
  expectSecondRefused("header differs");
}

TEST_F(Replicas, OtherSizesAreRefused) {
  for (const std::string& bytes : {shardOf(2).substr(0, 30), shardOf(2) + "x", std::string(), std::string("\1\2\3")}) {
    writeFile(mirror() / shardName(2), bytes);
    expectSecondRefused("it has " + std::to_string(bytes.size()) + " byte");
  }
}

TEST_F(Replicas, AHeaderThatClaimsMoreThanTheFileIsRefusedWithoutReadingIt) {
  std::string bytes = shardOf(2);
  bytes.replace(0, 8, littleEndian(UINT64_MAX));
  writeFile(mirror() / shardName(2), bytes);
  expectSecondRefused("header differs");
  bytes.replace(0, 8, littleEndian(bytes.size() * 2));
  writeFile(mirror() / shardName(2), bytes);
  expectSecondRefused("header differs");
}

TEST_F(Replicas, ThingsThatAreNoFiles) {
  const fs::path place = mirror() / shardName(2);
  fs::remove(place);
  ASSERT_EQ(::mkfifo(place.c_str(), 0600), 0);
  expectSecondRefused("not a regular file");  // and nothing waits for a writer
  fs::remove(place);
  fs::create_directory(place);
  expectSecondRefused("not a regular file");
  fs::remove(place);
  fs::create_symlink("nowhere", place);
  expectSecondRefused("a link to a file that is not there");
  fs::remove(place);
  fs::create_symlink(shardName(2), place);  // to itself
  expectSecondRefused("it ");
  fs::remove(place);
  fs::create_symlink("/dev/zero", place);
  expectSecondRefused("it ");
}

TEST_F(Replicas, UnreadableFiles) {
  fs::permissions(mirror() / shardName(2), fs::perms::none);
  const bool isRoot = ::geteuid() == 0;  // who reads everything
  if (isRoot) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  expectSecondRefused("cannot be opened");
  if (isRoot) {
    ASSERT_EQ(::seteuid(0), 0);
  }
}

TEST_F(Replicas, LinksLeadInsideTheMirrorOrItsHubCache) {
  // A hub cache: snapshots/<revision>/name -> ../../blobs/<hash>
  const fs::path repository = m_other.path() / "models--a--b";
  const fs::path snapshot = repository / "snapshots" / "0123";
  fs::create_directories(snapshot);
  fs::create_directories(repository / "blobs");
  for (int i = 1; i <= kShards; ++i) {
    fs::rename(mirror() / shardName(i), repository / "blobs" / std::to_string(i));
    fs::create_symlink("../../blobs/" + std::to_string(i), snapshot / shardName(i));
  }
  const auto found = find({snapshot});
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ(found->byShard[0].at(0).path, fs::canonical(repository / "blobs" / "1"));
  // Elsewhere a link out of the folder is not followed.
  for (int i = 1; i <= kShards; ++i) copyShard(i);
  fs::remove(mirror() / shardName(2));
  fs::create_symlink(repository / "blobs" / "2", mirror() / shardName(2));
  expectSecondRefused("leads out");
}

TEST_F(Replicas, TheModelsOwnFilesAreAcceptedWithAWarning) {
  fs::remove(mirror() / shardName(1));
  fs::create_symlink(m_model.path() / shardName(1), mirror() / shardName(1));
  fs::remove(mirror() / shardName(2));
  fs::create_hard_link(m_model.path() / shardName(2), mirror() / shardName(2));
  EXPECT_EQ(counts(), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_THAT(m_notices, Contains(AllOf(HasSubstr("2 of 3 files"), HasSubstr("the model's own"))));
  EXPECT_THAT(m_notices, Contains(AllOf(HasSubstr("1 of 3 files"), HasSubstr("same drive"))));
  EXPECT_EQ(counts({m_model.path()}), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_THAT(m_notices, Contains(HasSubstr("3 of 3 files")));
}

TEST_F(Replicas, AnotherFileSystemIsNoCauseForAWarning) {
  const char* memory = "/dev/shm";
  struct stat here {};
  struct stat there {};
  if (::stat(memory, &there) != 0 || ::stat(m_model.path().c_str(), &here) != 0 || here.st_dev == there.st_dev ||
      ::access(memory, W_OK) != 0) {
    GTEST_SKIP() << "no second file system";
  }
  const fs::path folder = fs::path(memory) / ("colibri-replicas-" + std::to_string(::getpid()));
  fs::copy(mirror(), folder);
  EXPECT_EQ(counts({folder}), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_TRUE(m_notices.empty()) << m_notices[0];
  fs::remove_all(folder);
  EXPECT_FALSE(isSameDrive(here.st_dev, there.st_dev));
}

TEST_F(Replicas, SeveralMirrorsInTheirOrder) {
  const fs::path second = m_other.path() / "second";
  fs::create_directory(second);
  writeFile(second / shardName(3), shardOf(3));
  EXPECT_EQ(counts({mirror(), second}), (std::vector<std::size_t>{1, 1, 2}));
  const auto found = find({second, mirror()});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->byShard[2].at(0).path, fs::canonical(second / shardName(3)));
  EXPECT_EQ(found->byShard[2].at(0).mirror, 0U);
  EXPECT_EQ(found->byShard[2].at(1).mirror, 1U);
  // One folder named twice is told.
  EXPECT_EQ(counts({second, second}), (std::vector<std::size_t>{0, 0, 2}));
  EXPECT_THAT(m_notices, Contains(HasSubstr("another mirror")));
}

TEST_F(Replicas, FoldersThatAreNotThere) {
  for (const fs::path& folder : {mirror() / "nowhere", mirror() / shardName(1), fs::path()}) {
    const auto found = find({mirror(), folder});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.status().code(), Code::kUsage);
    EXPECT_EQ(found.status().id(), "mirror_missing");
  }
}

TEST_F(Replicas, MirrorsWithoutAnyCopyAreAnErrorThatSaysWhy) {
  const fs::path empty = m_other.path() / "empty";
  fs::create_directory(empty);
  auto found = find({mirror(), empty});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.status().code(), Code::kUsage);
  EXPECT_EQ(found.status().id(), "mirror_empty");
  EXPECT_THAT(found.status().message(), HasSubstr("none of the model's 3 shards is there"));
  writeFile(empty / shardName(1), shardOf(2));  // another model's
  writeFile(empty / shardName(3), "x");
  found = find({empty});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.status().id(), "mirror_empty");
  EXPECT_THAT(found.status().message(), AllOf(HasSubstr("2 files"), HasSubstr(shardName(1)), HasSubstr("header")));
}

TEST_F(Replicas, ManyRefusalsAreSummedUp) {
  TempFolder many;
  std::string map;
  for (int i = 0; i < 9; ++i) {
    const std::string name = "s" + std::to_string(i) + ".safetensors";
    writeFile(many.path() / name, shardOf(i));
    writeFile(mirror() / name, i == 0 ? shardOf(i) : "short");
    map += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) + "\":\"" + name + "\"";
  }
  writeFile(many.path() / "model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  const auto set = ShardSet::open(many.path());
  ASSERT_TRUE(set) << set.status().message();
  const auto found = findReplicas(**set, std::vector<fs::path>{mirror()});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->notices, Contains(HasSubstr("5 further files")));
  EXPECT_EQ(found->notices.size(), 5U);  // three one by one, the sum, the drive
}

TEST_F(Replicas, AnOriginalThatIsGoneIsAnError) {
  fs::remove(m_model.path() / shardName(2));
  const auto found = find();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.status().code(), Code::kIo);
}

}  // namespace
}  // namespace colibri::testing

// The files around the headers: index, links, odd file kinds.
#include "checkpoint/index_file.h"
#include "checkpoint/shard_scan.h"
#include "checkpoint/shard_set.h"
#include "checkpoint_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

namespace colibri::testing {
namespace {

namespace fs = std::filesystem;

std::string oneTensor(const std::string& name) {
  return shardBytes("{" + entry(name, "U8", "[4]", 0, 4) + "}", 4);
}

std::string index(const std::string& map) {
  return R"({"metadata":{"total_size":8},"weight_map":{)" + map + "}}";
}

/// A sound checkpoint of two shards with the tensors a and b.
void writeTwoShards(const fs::path& folder) {
  writeFile(folder / "m-1.safetensors", oneTensor("a"));
  writeFile(folder / "m-2.safetensors", oneTensor("b"));
  writeFile(folder / "model.safetensors.index.json", index(R"("a":"m-1.safetensors","b":"m-2.safetensors")"));
}

std::string openError(const fs::path& folder, std::vector<fs::path> more = {}) {
  return ShardSet::open(folder, more).status().id();
}

std::vector<Finding> scan(const fs::path& folder) {
  std::vector<Finding> findings;
  scanShards(folder, {}, [&](Finding finding) { findings.push_back(std::move(finding)); });
  return findings;
}

TEST(Index, TextRules) {
  EXPECT_TRUE(parseIndex(index(R"("a":"x.safetensors")")));
  EXPECT_TRUE(parseIndex(R"({"weight_map":{},"metadata":{"deep":{"er":[1,2,{"x":null}]}}})"));
  const auto parsed =
      parseIndex(R"({"metadata":{"total_size":1.5e3},"weight_map":{"b":"y.safetensors","a":"x.safetensors"}})");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->totalSize, 1500.0);
  EXPECT_EQ(parsed->entries.front().tensor, "a");
  EXPECT_EQ(parsed->files[parsed->entries.front().file], "x.safetensors");
  for (const std::string& wrong :
       {std::string("{}"), std::string("[]"), std::string(R"({"weight_map":[]})"),
        std::string(R"({"weight_map":{"a":1}})"), index(R"("a":"x.safetensors","a":"x.safetensors")"),
        index(R"("a":"x.safetensors","\u0061":"x.safetensors")"), std::string(R"({"weight_map":{},"weight_map":{}})"),
        index(R"("":"x.safetensors")"), std::string(R"({"weight_map":{}} x)"),
        std::string(R"({"weight_map":{},"deep":)") + std::string(100000, '[')}) {
    EXPECT_EQ(parseIndex(wrong).status().id(), "index_mismatch") << wrong.substr(0, 80);
  }
}

TEST(Index, OnlyPlainFileNames) {
  for (const char* wrong :
       {"../../etc/passwd", "/abs.safetensors", "C:\\x.safetensors", "a/b.safetensors", "a\\\\b.safetensors",
        "a\\u0000.safetensors", ".hidden.safetensors", "..safetensors", "x.bin", ".safetensors", ""}) {
    EXPECT_EQ(parseIndex(index(std::string(R"("a":")") + wrong + "\"")).status().id(), "index_mismatch") << wrong;
  }
  EXPECT_TRUE(isPlainShardName("model-00001-of-00046.safetensors"));
}

TEST(ShardSet, TwoShardsAndSingleFile) {
  const TempFolder two;
  writeTwoShards(two.path());
  const auto set = ShardSet::open(two.path());
  ASSERT_TRUE(set) << set.status().message();
  EXPECT_EQ((*set)->shards().size(), 2U);
  ASSERT_NE((*set)->find("b"), nullptr);
  EXPECT_EQ((*set)->find("b")->shard, 1U);
  EXPECT_EQ((*set)->find("c"), nullptr);

  const TempFolder single;
  writeFile(single.path() / "model.safetensors", oneTensor("a"));
  EXPECT_EQ(openError(single.path()), "");
  // With an index the single file does not count.
  writeFile(single.path() / "model.safetensors.index.json", index(R"("b":"m-2.safetensors")"));
  EXPECT_EQ(openError(single.path()), "missing_shard");
}

TEST(ShardSet, FilesThatAreNotThere) {
  const TempFolder folder;
  EXPECT_EQ(openError(folder.path() / "nowhere"), "missing_folder");
  EXPECT_EQ(openError(folder.path()), "missing_index");
  writeTwoShards(folder.path());
  fs::remove(folder.path() / "m-2.safetensors");
  const auto findings = scan(folder.path());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "missing_shard");
  EXPECT_EQ(findings[0].tensors, 1U);
  EXPECT_NE(findings[0].message.find("1 of 2"), std::string::npos) << findings[0].message;

  const TempFolder other;
  writeFile(other.path() / "m-2.safetensors", oneTensor("b"));
  EXPECT_EQ(openError(folder.path(), {other.path()}), "");
}

TEST(ShardSet, DisagreementsWithTheIndex) {
  const auto codes = [](const std::string& first, const std::string& second, const std::string& map) {
    const TempFolder folder;
    writeFile(folder.path() / "m-1.safetensors", first);
    writeFile(folder.path() / "m-2.safetensors", second);
    writeFile(folder.path() / "model.safetensors.index.json", index(map));
    std::vector<std::string> words;
    for (const Finding& finding : scan(folder.path())) {
      words.push_back((finding.severity == Severity::kError ? "E " : "W ") + finding.code);
    }
    return words;
  };
  const std::string both = R"("a":"m-1.safetensors","b":"m-2.safetensors")";
  using Words = std::vector<std::string>;
  EXPECT_EQ(codes(oneTensor("a"), oneTensor("b"), both), Words{});
  EXPECT_EQ(codes(oneTensor("a"), oneTensor("b"), both + R"(,"ghost":"m-1.safetensors")"), Words{"E index_mismatch"});
  EXPECT_EQ(codes(oneTensor("b"), oneTensor("a"), both), (Words{"E index_mismatch", "E index_mismatch"}));  // swapped
  EXPECT_EQ(codes(oneTensor("a"), oneTensor("a"), R"("a":"m-1.safetensors","b":"m-2.safetensors")").front(),
            "E index_mismatch");
  const std::string twoTensors =
      shardBytes("{" + entry("b", "U8", "[2]", 0, 2) + "," + entry("c", "U8", "[2]", 2, 4) + "}", 4);
  EXPECT_EQ(codes(oneTensor("a"), twoTensors, both), Words{"W index_mismatch"});  // unlisted tensor
  EXPECT_EQ(codes(oneTensor("a"), shardBytes("{" + entry("b", "U8", "[5]", 0, 5) + "}", 5), both),
            Words{"W index_mismatch"});  // total
}

TEST(ShardSet, LinksOnlyInsideTheirRoot) {
  const TempFolder outside;
  writeFile(outside.path() / "m-2.safetensors", oneTensor("b"));
  const TempFolder folder;
  writeTwoShards(folder.path());
  fs::remove(folder.path() / "m-2.safetensors");
  fs::create_symlink(outside.path() / "m-2.safetensors", folder.path() / "m-2.safetensors");
  EXPECT_EQ(openError(folder.path()), "missing_shard");
  EXPECT_NE(scan(folder.path()).at(0).message.find("leads out"), std::string::npos);
  fs::remove(folder.path() / "m-2.safetensors");
  fs::create_symlink("gone.safetensors", folder.path() / "m-2.safetensors");
  EXPECT_EQ(openError(folder.path()), "missing_shard");
  fs::remove(folder.path() / "m-2.safetensors");
  fs::create_symlink("m-2.safetensors", folder.path() / "m-2.safetensors");  // to itself
  EXPECT_EQ(openError(folder.path()), "missing_shard");
  fs::remove(folder.path() / "m-2.safetensors");
  writeFile(folder.path() / "blob", oneTensor("b"));
  fs::create_symlink("blob", folder.path() / "m-2.safetensors");
  EXPECT_EQ(openError(folder.path()), "");
}

TEST(ShardSet, HubCacheLayout) {
  const TempFolder cache;
  const fs::path repository = cache.path() / "models--owner--name";
  const fs::path snapshot = repository / "snapshots" / "0123456789abcdef";
  fs::create_directories(snapshot);
  fs::create_directories(repository / "blobs");
  writeTwoShards(repository / "blobs");
  for (const char* name : {"m-1.safetensors", "m-2.safetensors", "model.safetensors.index.json"}) {
    fs::create_symlink(fs::path("../../blobs") / name, snapshot / name);
  }
  EXPECT_EQ(openError(snapshot), "");
  // Out of this repository's cache is out.
  writeFile(cache.path() / "elsewhere", oneTensor("b"));
  fs::remove(snapshot / "m-2.safetensors");
  fs::create_symlink("../../../elsewhere", snapshot / "m-2.safetensors");
  EXPECT_EQ(openError(snapshot), "missing_shard");
}

TEST(ShardSet, OddKindsOfFilesNeitherHangNorLoad) {
  for (const std::string kind : {"fifo", "folder", "device"}) {
    const TempFolder folder;
    writeTwoShards(folder.path());
    const fs::path victim = folder.path() / "m-2.safetensors";
    fs::remove(victim);
    if (kind == "fifo") {
      ASSERT_EQ(::mkfifo(victim.c_str(), 0600), 0);
    }
    if (kind == "folder") fs::create_directory(victim);
    if (kind == "device") fs::create_symlink("/dev/zero", victim);
    EXPECT_EQ(openError(folder.path()), "missing_shard") << kind;
  }
  // The reader itself refuses them as well, whoever calls it.
  Codes codes;
  readShardHeader("/dev/zero", "zero", [&](const Finding& finding) { codes.push_back(finding.code); });
  EXPECT_EQ(codes, Codes{"missing_shard"});
}

}  // namespace
}  // namespace colibri::testing

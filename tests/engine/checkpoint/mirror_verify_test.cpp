// Copies on a second drive: what verification finds, what a damaged receipt does, and what removal leaves.
#include "checkpoint/mirror_file.h"
#include "checkpoint/mirror_receipt.h"
#include "mirror_fixture.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>

namespace colibri::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(Mirror, VerifyFindsOneChangedByte) {
  expectStaged();
  flipByte(kLayer, 1);
  ASSERT_EQ(verify(), Found{"E hash_mismatch"});
  EXPECT_EQ(m_findings[0].file, kLayer);
  EXPECT_FALSE(m_verified.ok);
  EXPECT_EQ(verify(true), (Found{"E hash_mismatch", "E hash_mismatch"}));  // against receipt and model
  flipByte(kLayer, 1);
  EXPECT_EQ(verify(), Found{});
}

TEST_F(Mirror, VerifyFindsWhatElseMayBeWrong) {
  expectStaged();
  std::vector<std::string> names = earning();
  fs::remove(folder() / names[0]);
  fs::resize_file(folder() / names[1], 100);
  EXPECT_EQ(verify(), (Found{"E replica_missing", "E replica_refused"}));
  expectError(stage().status(), Code::kUsage, "mirror_conflict");
  fs::remove(folder() / names[1]);
  expectStaged();
  EXPECT_EQ(verify(true), Found{});
  expectError(verifyMirror(model(), folder() / "nowhere", {}, {}).status(), Code::kUsage, "mirror_missing");
  fs::create_directory(m_other.path() / "empty");
  const auto empty = verifyMirror(model(), m_other.path() / "empty", {}, {});
  ASSERT_TRUE(empty);
  EXPECT_FALSE(empty->ok) << "nothing was verified";
  MirrorVerifyOptions options;
  options.cancellation.cancel();
  expectError(verifyMirror(model(), folder(), options, {}).status(), Code::kCancelled, "cancelled");
}

TEST_F(Mirror, AModelThatChangedSinceItWasCopied) {
  const fs::path changing = m_other.path() / "changing";
  fs::copy(model(), changing);
  ASSERT_TRUE(stageMirror(changing, folder(), small()));
  const auto verifyChanging = [&](bool source) {
    Found codes;
    MirrorVerifyOptions options;
    options.source = source;
    const auto result = verifyMirror(changing, folder(), options, [&](const Finding& finding) {
      codes.insert((finding.severity == Severity::kError ? "E " : "W ") + finding.code);
    });
    EXPECT_TRUE(result);
    return codes;
  };
  fs::last_write_time(changing / kLayer, fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(verifyChanging(false), Found{"W source_changed"});
  EXPECT_EQ(verifyChanging(true), Found{});
  const auto compared = stageMirror(changing, folder(), small());
  ASSERT_TRUE(compared) << compared.status().message();
  ASSERT_EQ(compared->shards.size(), 1U);  // read again and on record once more
  EXPECT_EQ(compared->copiedBytes, 0U);
  EXPECT_EQ(verifyChanging(false), Found{});
  std::string bytes = original(kLayer);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  writeFile(changing / kLayer, bytes);
  EXPECT_EQ(verifyChanging(true), Found{"E source_changed"});
  expectError(stageMirror(changing, folder(), small()).status(), Code::kUsage, "mirror_conflict");
  const auto removed = removeMirror(changing, folder());
  ASSERT_TRUE(removed);
  EXPECT_THAT(removed->kept, IsEmpty());
}

TEST_F(Mirror, DamagedReceipts) {
  expectStaged(only({kLayer}));
  const fs::path receipt = folder() / kReceiptName;
  const std::string sound = readWhole(receipt);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::string> texts{"",
                                       "{",
                                       "[]",
                                       sound.substr(0, sound.size() / 2),
                                       sound + "x",
                                       replaced("\"format\": 1", "\"format\": 2"),
                                       replaced("\"format\": 1", "\"format\": \"1\""),
                                       replaced("\"name\": \"model", "\"name\": \"../model"),
                                       replaced("\"name\": \"" + kLayer + "\"", "\"name\": 5"),
                                       replaced("\"partials\": []", "\"partials\": [\"" + kLayer + "\"]"),
                                       replaced("\"partials\": []", "\"partials\": [\"/etc/passwd\"]"),
                                       replaced("\"bytes\": ", "\"bytes\": -"),
                                       replaced("\"sha256\": \"", "\"sha256\": \"x"),
                                       replaced("\"copied\": true", "\"copied\": \"yes\""),
                                       std::string(kMaxReceiptBytes + 1, ' '),
                                       std::string(100000, '[')};
  for (const std::string& text : texts) {
    writeFile(receipt, text);
    const std::string shown = text.substr(0, 200);
    expectError(stage().status(), Code::kCheckpoint, "receipt_damaged");
    expectError(removeMirror(model(), folder()).status(), Code::kCheckpoint, "receipt_damaged");
    EXPECT_THAT(plan().warnings, Contains(HasSubstr("cannot be used"))) << shown;
    EXPECT_EQ(verify(), (Found{"E receipt_damaged", "E replica_unlisted"})) << shown;
    EXPECT_EQ(copyOf(kLayer), original(kLayer));
  }
  fs::remove(receipt);
  fs::create_directory(receipt);
  expectError(stage().status(), Code::kCheckpoint, "receipt_damaged");
  fs::remove(receipt);
  // What the sentence advises works: the copy is compared and kept.
  const auto again = stage(only({kLayer}));
  ASSERT_TRUE(again) << again.status().message();
  EXPECT_EQ(again->copiedBytes, 0U);
  EXPECT_EQ(verify(), Found{});
}

TEST_F(Mirror, AReceiptReadsBackAsItWasWritten) {
  MirrorReceipt receipt;
  receipt.modelId = "0123";
  receipt.modelName = "a \"name\" \xff";
  receipt.enter({"b.safetensors", 7, std::string(64, 'a'), -5, "2026-01-31T12:00:00Z", false});
  receipt.enter({"a.safetensors", UINT64_MAX, std::string(64, '0'), INT64_MAX, "", true});
  receipt.enterPartial("c.safetensors");
  receipt.enterPartial("b.safetensors");  // begun anew: no finished copy any more
  const auto read = parseReceipt(receiptText(receipt));
  ASSERT_TRUE(read) << read.status().message();
  ASSERT_EQ(read->entries.size(), 1U);
  EXPECT_EQ(read->entries[0].bytes, UINT64_MAX);
  EXPECT_EQ(read->entries[0].sourceModified, INT64_MAX);
  EXPECT_EQ(read->partials, (std::vector<std::string>{"b.safetensors", "c.safetensors"}));
  receipt.enter({"c.safetensors", 7, std::string(64, 'a'), 0, receiptDate(), true});
  EXPECT_FALSE(receipt.hasPartial("c.safetensors"));
  EXPECT_NE(receipt.find("c.safetensors"), nullptr);
}

TEST_F(Mirror, CopiesOfAnotherModelAreLeftAlone) {
  expectStaged();
  const fs::path other = m_other.path() / "other";
  SynthOptions options;
  options.preset = "v4-tiny";
  options.layers = 5;
  options.out = other;
  ASSERT_TRUE(synthesizeCheckpoint(options).isOk());
  expectError(planMirror(other, folder(), small()).status(), Code::kUsage, "mirror_other_model");
  expectError(stageMirror(other, folder(), small()).status(), Code::kUsage, "mirror_other_model");
  expectError(removeMirror(other, folder()).status(), Code::kUsage, "mirror_other_model");
  EXPECT_EQ(verify(true), Found{});
}

TEST_F(Mirror, RemoveTakesBackWhatWasMade) {
  std::uint64_t left = original(earning()[0]).size() + 1000;
  m_system.write = [&](int descriptor, std::span<const std::byte> piece, std::uint64_t offset) -> std::int64_t {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), left));
    left -= size;
    return size == 0 ? 0 : ::pwrite(descriptor, piece.data(), size, static_cast<off_t>(offset));
  };
  expectError(stage().status(), Code::kIo, "disk_full");
  writeFile(folder() / "notes.txt", "mine");
  writeFile(folder() / "model-00099-of-00099.safetensors", "mine");
  const auto removed = removeMirror(model(), folder());
  ASSERT_TRUE(removed) << removed.status().message();
  EXPECT_EQ(removed->freedBytes, original(earning()[0]).size() + 1000);
  EXPECT_EQ(removed->removed.size(), 2U);
  EXPECT_THAT(removed->kept, IsEmpty());
  EXPECT_EQ(files(), (std::set<std::string>{"notes.txt", "model-00099-of-00099.safetensors"}));
  expectError(removeMirror(model(), folder()).status(), Code::kUsage, "mirror_no_receipt");
  expectError(removeMirror(model(), folder() / "nowhere").status(), Code::kUsage, "mirror_missing");
}

TEST_F(Mirror, RemoveNeverFollowsWhatTookAFilesPlace) {
  expectStaged(only({kLayer, kEmbedding}));
  writeFile(m_other.path() / "precious", "mine");
  fs::remove(folder() / kLayer);
  fs::create_symlink(m_other.path() / "precious", folder() / kLayer);
  fs::remove(folder() / kEmbedding);
  fs::create_directory(folder() / kEmbedding);
  const auto removed = removeMirror(model(), folder());
  ASSERT_TRUE(removed) << removed.status().message();
  EXPECT_EQ(removed->kept.size(), 2U);
  EXPECT_EQ(removed->freedBytes, 0U);
  EXPECT_EQ(readWhole(m_other.path() / "precious"), "mine");
  EXPECT_TRUE(fs::is_symlink(folder() / kLayer));
}

TEST_F(Mirror, OneAtATime) {
  fs::create_directory(folder());
  {
    const auto lock = lockFolder(folder());
    ASSERT_TRUE(lock);
    expectError(stage().status(), Code::kUsage, "mirror_busy");
    expectError(removeMirror(model(), folder()).status(), Code::kUsage, "mirror_busy");
  }
  expectStaged(only({kLayer}));
}

TEST_F(Mirror, ModelsWithoutExpertsHaveNothingToCopy) {
  const fs::path plain = m_other.path() / "plain";
  fs::create_directory(plain);
  fs::copy(model() / "config.json", plain / "config.json");
  writeFile(plain / "model.safetensors", shardBytes("{" + entry("embed.weight", "U8", "[4]", 0, 4) + "}", 4));
  expectError(stageMirror(plain, folder(), small()).status(), Code::kUsage, "mirror_useless");
  EXPECT_FALSE(fs::exists(folder()));
  const auto staged = stageMirror(plain, folder(), only({"1"}));
  ASSERT_TRUE(staged) << staged.status().message();
  EXPECT_TRUE(fs::exists(folder() / "model.safetensors"));
}

}  // namespace
}  // namespace colibri::testing

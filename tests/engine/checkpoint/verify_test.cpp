// verifyCheckpoint names every kind of damage by its code and goes on; inspectCheckpoint's figures; synthetic
// checkpoints.
#include "base/hash.h"
#include "base/json.h"
#include "checkpoint/expected_tensors.h"
#include "checkpoint/expert_layout.h"
#include "checkpoint/model_id.h"
#include "checkpoint/shard_set.h"
#include "checkpoint_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace colibri::testing {
namespace {

namespace fs = std::filesystem;

/// One tiny checkpoint for the whole program; tests work on copies.
class Verify : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    s_master = new TempFolder;
    SynthOptions options;
    options.preset = "v4-tiny";
    options.out = s_master->path() / "tiny";
    const Status status = synthesizeCheckpoint(options);
    ASSERT_TRUE(status.isOk()) << status.message();
  }
  static void TearDownTestSuite() {
    delete s_master;
    s_master = nullptr;
  }
  static fs::path master() { return s_master->path() / "tiny"; }

  void SetUp() override {
    fs::copy(master(), m_copy.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  [[nodiscard]] const fs::path& folder() const { return m_copy.path(); }
  /// The shard of layer `l` (shard 1 is the embedding).
  [[nodiscard]] fs::path layerShard(int layer) const {
    return folder() / ("model-0000" + std::to_string(layer + 2) + "-of-00011.safetensors");
  }

  /// Codes of all findings, with their severity.
  std::multiset<std::string> verify(VerifyLevel level = VerifyLevel::kHeaders,
                                    const std::map<std::string, std::string>& manifest = {}) {
    VerifyOptions options;
    options.level = level;
    options.manifest = manifest;
    std::multiset<std::string> codes;
    std::uint64_t errors = 0;
    m_findings.clear();
    const auto summary = verifyCheckpoint(folder(), options, [&](const Finding& finding) {
      EXPECT_FALSE(finding.message.empty());
      if (finding.severity == Severity::kError) ++errors;
      codes.insert((finding.severity == Severity::kError ? "E " : "W ") + finding.code);
      m_findings.push_back(finding);
    });
    EXPECT_TRUE(summary) << summary.status().message();
    if (summary) {
      EXPECT_EQ(summary->ok, errors == 0);
      if (errors < 100) {
        EXPECT_EQ(summary->errors, errors);  // beyond, findings are summed up
      }
      m_summary = *summary;
    }
    return codes;
  }

  /// Changes the header text of a shard, data untouched; the new text must be as long as the old one.
  static void editHeader(const fs::path& shard, const std::string& from, const std::string& to) {
    ASSERT_EQ(from.size(), to.size());
    std::string bytes = readWhole(shard);
    const auto at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bytes.replace(at, from.size(), to);
    writeFile(shard, bytes);
  }

  void editJson(const char* name, const std::function<void(Json&)>& edit) const {
    Json json = Json::parse(readWhole(folder() / name));
    edit(json);
    writeFile(folder() / name, json.dump());
  }

  std::vector<Finding> m_findings;
  VerifySummary m_summary;

private:
  static TempFolder* s_master;
  TempFolder m_copy;
};

TempFolder* Verify::s_master = nullptr;

using Found = std::multiset<std::string>;

TEST_F(Verify, SoundCheckpointHasNoFindings) {
  EXPECT_EQ(verify(), Found{});
  EXPECT_EQ(m_summary.shards, 11U);
  EXPECT_EQ(m_summary.tensors, 739U);
  EXPECT_EQ(verify(VerifyLevel::kFull), Found{});
  ASSERT_EQ(m_summary.hashes.size(), 11U);
  const std::string bytes = readWhole(layerShard(0));
  EXPECT_EQ(m_summary.hashes.at(layerShard(0).filename().string()), sha256Hex(std::as_bytes(std::span(bytes))));
}

TEST_F(Verify, SizesOfShards) {
  const auto size = fs::file_size(layerShard(1));
  fs::resize_file(layerShard(1), size - 5000);
  EXPECT_EQ(verify(), Found{"E shard_truncated"});
  EXPECT_EQ(m_findings[0].expectedBytes, size);
  EXPECT_EQ(m_findings[0].actualBytes, size - 5000);
  EXPECT_GE(m_findings[0].tensors.value_or(0), 1U);
  fs::resize_file(layerShard(1), size + 1);
  EXPECT_EQ(verify(), Found{"E shard_too_long"});
  fs::resize_file(layerShard(1), 0);
  EXPECT_EQ(verify(), Found{"E shard_truncated"});  // its 77 tensors are not 77 findings more
}

TEST_F(Verify, MissingFiles) {
  fs::remove(folder() / "tokenizer.json");
  EXPECT_EQ(verify(), Found{"E tokenizer_missing"});
  fs::remove(layerShard(2));
  EXPECT_EQ(verify(), (Found{"E missing_shard", "E tokenizer_missing"}));
  fs::remove(folder() / "config.json");
  EXPECT_EQ(verify(), (Found{"E missing_config", "E missing_shard", "E tokenizer_missing"}));
  EXPECT_EQ(verifyCheckpoint(folder() / "nowhere", {}, {}).status().id(), "missing_folder");
}

TEST_F(Verify, MissingIndexStillChecksTheShards) {
  fs::remove(folder() / "model.safetensors.index.json");
  EXPECT_EQ(verify(), Found{"E missing_index"});
  fs::resize_file(layerShard(1), fs::file_size(layerShard(1)) - 1);
  EXPECT_EQ(verify(), (Found{"E missing_index", "E shard_truncated"}));
}

TEST_F(Verify, HeadersAgainstConfig) {
  // F16 and BF16 are equally wide, so only the comparison with the config can tell.
  editHeader(layerShard(1), R"("layers.1.attn_norm.weight":{"dtype":"BF16","shape":[256])",
             R"("layers.1.attn_norm.weight":{"dtype":"I16", "shape":[256])");
  EXPECT_EQ(verify(), Found{"E tensor_dtype"});
  EXPECT_EQ(m_findings[0].tensor, "layers.1.attn_norm.weight");
  editHeader(layerShard(1), R"("layers.1.attn.wq_a.weight":{"dtype":"F8_E4M3","shape":[128,256])",
             R"("layers.1.attn.wq_a.weight":{"dtype":"F8_E4M3","shape":[256,128])");
  EXPECT_EQ(verify(), (Found{"E tensor_dtype", "E tensor_shape"}));
  editHeader(layerShard(2), "layers.2.ffn_norm.weight", "layers.2.ffn_gorm.weight");
  EXPECT_EQ(verify(), (Found{"E tensor_dtype", "E tensor_shape", "E index_mismatch", "E tensor_missing",
                             "W index_mismatch", "W index_mismatch"}));
}

TEST_F(Verify, PackedWeightsMayBeUnsigned) {
  editHeader(layerShard(1), R"("layers.1.ffn.experts.0.w1.weight":{"dtype":"I8")",
             R"("layers.1.ffn.experts.0.w1.weight":{"dtype":"U8")");
  EXPECT_EQ(verify(), Found{});
}

TEST_F(Verify, OffsetsThatOverlapOrLeave) {
  const auto set = ShardSet::open(folder());
  ASSERT_TRUE(set);
  const TensorInfo* norm = (*set)->find("layers.1.attn_norm.weight");
  ASSERT_NE(norm, nullptr);
  const std::uint64_t begin = norm->offset - (*set)->shards()[norm->shard].headerBytes;
  const auto offsets = [](std::uint64_t first, std::uint64_t bytes) {
    return "[" + std::to_string(first) + "," + std::to_string(first + bytes) + "]";
  };
  const auto digits = std::to_string(begin).size();
  ASSERT_EQ(std::to_string(begin - 4).size(), digits);
  editHeader(layerShard(1), offsets(begin, norm->bytes), offsets(begin - 4, norm->bytes));
  EXPECT_EQ(verify(), Found{"E tensor_overlap"});
}

TEST_F(Verify, IndexDisagreements) {
  editJson("model.safetensors.index.json",
           [](Json& json) { json["weight_map"]["layers.1.attn.ghost.weight"] = "model-00003-of-00011.safetensors"; });
  EXPECT_EQ(verify(), Found{"E index_mismatch"});
  editJson("model.safetensors.index.json", [](Json& json) { json["weight_map"]["evil"] = "../x.safetensors"; });
  EXPECT_EQ(verify(), Found{"E index_mismatch"});
}

TEST_F(Verify, ConfigProblemsDoNotHideShardProblems) {
  fs::resize_file(layerShard(1), fs::file_size(layerShard(1)) - 1);
  editJson("config.json", [](Json& json) { json.erase("hidden_size"); });
  EXPECT_EQ(verify(), (Found{"E config_invalid", "E shard_truncated"}));
  editJson("config.json", [](Json& json) { json["model_type"] = "deepseek_v5"; });
  EXPECT_EQ(verify(), (Found{"E unsupported_model", "E shard_truncated"}));
}

TEST_F(Verify, LeftoversOfDownloads) {
  writeFile(folder() / "model-00003-of-00011.safetensors.partial", "x");
  fs::create_directories(folder() / ".cache/huggingface/download");
  writeFile(folder() / ".cache/huggingface/download/abc.incomplete", "x");
  EXPECT_EQ(verify(), (Found{"W leftover_partial", "W leftover_partial"}));
  EXPECT_TRUE(m_summary.ok);
}

TEST_F(Verify, DraftStagesArePartOfTheComparison) {
  const fs::path last = folder() / "model-00011-of-00011.safetensors";
  editHeader(last, "mtp.2.markov_head.markov_w1.weight", "mtp.2.markov_head.markov_x1.weight");
  const Found found = verify();
  EXPECT_EQ(found.count("E tensor_missing"), 1U);
}

TEST_F(Verify, FloodsAreSummedUp) {
  editJson("config.json", [](Json& json) {
    json["num_hidden_layers"] = 12;
    json["compress_ratios"] = std::vector<int>(12, 0);
  });
  verify(VerifyLevel::kHeaders);
  std::size_t listed = 0;
  for (const Finding& finding : m_findings) listed += finding.code == "tensor_missing" ? 1 : 0;
  EXPECT_EQ(listed, 101U);
  EXPECT_NE(m_findings.back().message.find("further finding"), std::string::npos);
}

TEST_F(Verify, ManifestHashes) {
  ASSERT_EQ(verify(VerifyLevel::kFull), Found{});
  auto manifest = m_summary.hashes;
  EXPECT_EQ(verify(VerifyLevel::kFull, manifest), Found{});
  std::string bytes = readWhole(layerShard(1));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  writeFile(layerShard(1), bytes);
  EXPECT_EQ(verify(VerifyLevel::kFull), Found{});  // fp4 has no impossible value
  EXPECT_EQ(verify(VerifyLevel::kFull, manifest), Found{"E hash_mismatch"});
  EXPECT_EQ(m_findings[0].file, layerShard(1).filename().string());
  manifest.erase(layerShard(1).filename().string());
  EXPECT_EQ(verify(VerifyLevel::kFull, manifest), Found{"W hash_mismatch"});
  manifest["tokenizer.json"] = std::string(64, '0');
  EXPECT_EQ(verify(VerifyLevel::kFull, manifest), (Found{"W hash_mismatch", "E hash_mismatch"}));
  manifest["gone.safetensors"] = std::string(64, '0');
  EXPECT_EQ(verify(VerifyLevel::kFull, manifest).count("E missing_shard"), 1U);
}

TEST_F(Verify, ManifestFiles) {
  const fs::path file = folder() / "manifest.json";
  const auto error = [&](const std::string& text) {
    writeFile(file, text);
    return readManifest(file).status().code();
  };
  EXPECT_EQ(error(R"({"a.safetensors":")" + std::string(64, 'a') + "\"}"), Code::kOk);
  for (const char* wrong : {"[]", "{", R"({"a":1})", R"({"a":"xyz"})",
                            R"({"../a":"0000000000000000000000000000000000000000000000000000000000000000"})"}) {
    EXPECT_EQ(error(wrong), Code::kUsage) << wrong;
  }
  EXPECT_EQ(readManifest(folder() / "none.json").status().code(), Code::kUsage);
}

TEST_F(Verify, ImpossibleValues) {
  const auto set = ShardSet::open(folder());
  ASSERT_TRUE(set);
  const struct {
    const char* tensor;
    std::size_t element;
    std::string bytes;
  } cases[] = {{"layers.1.ffn.experts.0.w1.scale", 77, "\xFF"},
               {"layers.1.attn.wq_a.weight", 5, "\x7F"},
               {"layers.1.attn_norm.weight", 3, std::string("\x80\x7F", 2)},             // infinity
               {"layers.1.hc_attn_fn", 9, std::string("\0\0\xC0\xFF", 4)},               // NaN
               {"layers.0.ffn.gate.tid2eid", 11, std::string("\x08\0\0\0\0\0\0\0", 8)},  // eight experts: 0 to 7
               {"layers.0.ffn.gate.tid2eid", 12, std::string(8, '\xFF')}};               // -1
  for (const auto& one : cases) {
    const TensorInfo* tensor = (*set)->find(one.tensor);
    ASSERT_NE(tensor, nullptr) << one.tensor;
    const fs::path path = (*set)->shards()[tensor->shard].path;
    const std::string before = readWhole(path);
    std::string bytes = before;
    bytes.replace(static_cast<std::size_t>(tensor->offset) + one.element * one.bytes.size(), one.bytes.size(),
                  one.bytes);
    writeFile(path, bytes);
    EXPECT_EQ(verify(), Found{});
    EXPECT_EQ(verify(VerifyLevel::kFull), Found{"E tensor_value"}) << one.tensor;
    EXPECT_EQ(m_findings.at(0).tensor, one.tensor);
    EXPECT_NE(m_findings.at(0).message.find("element " + std::to_string(one.element) + " "), std::string::npos)
        << m_findings.at(0).message;
    writeFile(path, before);
  }
}

TEST_F(Verify, CancelAndProgress) {
  VerifyOptions options;
  options.level = VerifyLevel::kFull;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  options.progress = [&](const VerifyProgress& progress) {
    EXPECT_GT(progress.doneBytes, last);
    last = progress.doneBytes;
    total = progress.totalBytes;
  };
  ASSERT_TRUE(verifyCheckpoint(folder(), options, {}));
  EXPECT_EQ(last, total);
  EXPECT_GT(total, 12000000U);
  options.progress = [&](const VerifyProgress&) { options.cancellation.cancel(); };
  EXPECT_EQ(verifyCheckpoint(folder(), options, {}).status().code(), Code::kCancelled);
}

TEST_F(Verify, ModelIdDependsOnConfigAndHeadersAlone) {
  const auto id = [&] { return *modelIdOf(folder(), **ShardSet::open(folder())); };
  const std::string first = id();
  EXPECT_EQ(first.size(), 32U);
  editJson("config.json", [](Json&) {});  // other white space, same content
  EXPECT_EQ(id(), first);
  editHeader(layerShard(1), R"("layers.1.attn_norm.weight":{"dtype":"BF16")",
             R"("layers.1.attn_norm.weight":{"dtype": "F16")");
  const std::string second = id();
  EXPECT_NE(second, first);
  editJson("config.json", [](Json& json) { json["rms_norm_eps"] = 1e-5; });
  EXPECT_NE(id(), second);
}

TEST_F(Verify, ExpertLayoutRefusesWhatConfigDoesNotDescribe) {
  const auto build = [&] {
    const auto config = ModelConfig::load(folder());
    const auto set = ShardSet::open(folder());
    EXPECT_TRUE(config && set);
    return ExpertLayout::build(*config, **set).status().id();
  };
  EXPECT_EQ(build(), "");
  editHeader(layerShard(3), R"("layers.3.ffn.experts.5.w2.scale":{"dtype":"F8_E8M0","shape":[256,4])",
             R"("layers.3.ffn.experts.5.w2.scale":{"dtype":"F8_E8M0","shape":[4,256])");
  EXPECT_EQ(build(), "tensor_shape");
}

TEST(Synth, TinyIsReproducibleAndRefusesToOverwrite) {
  const TempFolder folder;
  SynthOptions options;
  options.preset = "v4-tiny";
  options.layers = 3;
  options.draft = "none";
  std::map<std::string, std::string> hashes[3];
  for (int i = 0; i < 3; ++i) {
    options.out = folder.path() / std::to_string(i);
    options.seed = i == 2 ? 1 : 0;
    ASSERT_TRUE(synthesizeCheckpoint(options).isOk());
    VerifyOptions full;
    full.level = VerifyLevel::kFull;
    const auto summary =
        verifyCheckpoint(options.out, full, [](const Finding& finding) { ADD_FAILURE() << finding.message; });
    ASSERT_TRUE(summary);
    hashes[i] = summary->hashes;
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_NE(hashes[0], hashes[2]);
  EXPECT_EQ(synthesizeCheckpoint(options).id(), "folder_not_empty");
  options.out = folder.path() / "new";
  options.preset = "v9";
  EXPECT_EQ(synthesizeCheckpoint(options).id(), "unknown_preset");
  options.preset = "v4-tiny";
  options.experts = 1;  // fewer than a token needs
  EXPECT_EQ(synthesizeCheckpoint(options).id(), "bad_option");
  options.experts.reset();
  options.draft = "mtp";
  options.cancellation.cancel();
  EXPECT_EQ(synthesizeCheckpoint(options).code(), Code::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(options.out));  // what had been written is gone
}

TEST(Synth, TooLittleSpaceIsSaidBeforeAnythingIsWritten) {
  const TempFolder folder;
  if (fs::space(folder.path()).available > 1000000000000) GTEST_SKIP() << "there is room for what the test asks";
  SynthOptions options;
  options.preset = "v4-wide";
  options.layers = 100;
  options.experts = 1000;  // 1.3 TB
  options.out = folder.path() / "huge";
  const Status status = synthesizeCheckpoint(options);
  EXPECT_EQ(status.id(), "disk_full") << status.message();
  EXPECT_FALSE(std::filesystem::exists(options.out));
}

// The released geometry, as holes in sparse files: totals as published.
TEST(RealGeometry, TotalsOfBothReleases) {
  const struct {
    const char* preset;
    std::uint64_t tensors, shards, total, draft;
    const char* drafter;
  } releases[] = {{"v4-real-sparse", 69187, 46, 159609485896, 3593787756, "mtp"},
                  {"v4-0731-real-sparse", 72317, 48, 166878536440, 10862838300, "dspark"}};
  for (const auto& release : releases) {
    const TempFolder folder;
    SynthOptions options;
    options.preset = release.preset;
    options.out = folder.path() / "real";
    const Status made = synthesizeCheckpoint(options);
    if (made.id() == "write_failed")
      GTEST_SKIP() << "this file system cannot hold a sparse file of 3 GB: " << made.message();
    ASSERT_TRUE(made.isOk()) << made.message();
    const auto info = inspectCheckpoint(options.out);
    ASSERT_TRUE(info) << info.status().message();
    EXPECT_EQ(info->geometry, "43L x 256E");
    EXPECT_EQ(info->tensors, release.tensors);
    EXPECT_EQ(info->shards, release.shards);
    EXPECT_EQ(info->bytes.total, release.total);
    EXPECT_EQ(info->bytes.draft, release.draft);
    EXPECT_EQ(info->bytes.embedding, 1059061760U);
    EXPECT_EQ(info->bytes.head, 1059061760U);
    EXPECT_EQ(info->bytes.dense, 6727835868U);
    EXPECT_EQ(info->bytes.routedExperts, 43 * std::uint64_t{3422552064});
    EXPECT_EQ(info->bytes.routedExperts + info->bytes.engram + info->bytes.dense + info->bytes.embedding +
                  info->bytes.head + info->bytes.draft + info->bytes.vision,
              info->bytes.total);
    EXPECT_EQ(info->expertBytes, 13369344U);
    EXPECT_EQ(info->routedBytesPerToken, 3449290752U);
    EXPECT_EQ(info->denseBytesPerToken, 7768281308U);
    EXPECT_EQ(info->contextLimit, 1048576);
    EXPECT_TRUE(info->supported);
    EXPECT_EQ(std::count(info->features.begin(), info->features.end(), release.drafter), 1);
    const auto summary =
        verifyCheckpoint(options.out, {}, [](const Finding& finding) { ADD_FAILURE() << finding.message; });
    ASSERT_TRUE(summary && summary->ok);
  }
}

}  // namespace
}  // namespace colibri::testing

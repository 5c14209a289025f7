// The image tower and the aligner against the reference rows, and the promises about threads and instruction sets.
#include "base/hash.h"
#include "io/read_backend.h"
#include "session/image_encoder.h"
#include "support/golden_file.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace colibri {
namespace {

const std::filesystem::path kFixture = std::filesystem::path(COLIBRI_GOLDEN_DIR) / "v41" / "vision";
const std::vector<std::string> kImages{"up", "big", "exact", "alpha", "tall", "strip", "palette", "column"};

/// The fixture's tower, without its language model.
class Subject {
public:
  explicit Subject(Numerics numerics, Isa isa = Isa::kAuto, int threads = 1) : m_team(threads) {
    auto config = ModelConfig::load(kFixture / "checkpoint");
    auto shards = ShardSet::open(kFixture / "checkpoint");
    auto kernels = kernelsFor(isa);
    if (!config || !shards || !kernels) {
      ADD_FAILURE() << config.status().message() << shards.status().message() << kernels.status().message();
      return;
    }
    m_config = std::move(config).value();
    m_shards = std::move(shards).value();
    std::vector<ReadFile> files;
    for (const Shard& shard : m_shards->shards()) files.push_back({FileCopy{shard.path, 0}});
    auto encoder = ImageEncoder::create(m_config, *m_shards, **kernels, m_team, numerics, {}, files, m_ledger);
    EXPECT_TRUE(encoder) << encoder.status().message();
    if (encoder) m_encoder = std::move(encoder).value();
  }

  ImageEncoder& encoder() { return *m_encoder; }
  Ledger& ledger() { return *m_ledger; }

  VisionRows rows(const std::string& image) {
    const auto pixels = loadImage(kFixture / (image + ".png"));
    auto encoding = m_encoder->compute(*pixels, true, {});
    EXPECT_TRUE(encoding) << encoding.status().message();
    return encoding ? std::move(encoding->rows) : VisionRows{};
  }

private:
  Team m_team;
  ModelConfig m_config;
  std::shared_ptr<const ShardSet> m_shards;
  std::shared_ptr<Ledger> m_ledger = std::make_shared<Ledger>();
  std::unique_ptr<ImageEncoder> m_encoder;
};

double worstDifference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return worst;
}

/// How many bf16 numbers lie between the two.
int bf16Steps(float a, float b) {
  const auto rank = [](float x) {
    const auto bits = std::bit_cast<std::int32_t>(x) >> 16;
    return bits < 0 ? -(bits & 0x7fff) : bits;
  };
  return std::abs(rank(a) - rank(b));
}

TEST(VisionTower, Fp32RowsAreWithinTheGoldens) {
  const test::GoldenFile golden(kFixture / "golden.safetensors");
  Subject subject(Numerics::kFp32);
  for (const std::string& image : kImages) {
    const VisionRows rows = subject.rows(image);
    EXPECT_LE(worstDifference(rows.tower, golden.tensor("image." + image + ".fp32.tower").floats()), 1e-4) << image;
    EXPECT_LE(worstDifference(rows.aligner, golden.tensor("image." + image + ".fp32.aligner").floats()), 1e-4) << image;
  }
}

/// Distances of all values in bf16 steps, ascending. Roundings amplify a difference in the order of a sum, so single
/// values say nothing.
std::vector<int> vendorSteps(bool aligner) {
  const test::GoldenFile golden(kFixture / "golden.safetensors");
  Subject subject(Numerics::kVendor);
  std::vector<int> steps;
  for (const std::string& image : kImages) {
    const VisionRows rows = subject.rows(image);
    const std::vector<float>& mine = aligner ? rows.aligner : rows.tower;
    const std::vector<float> theirs =
        golden.tensor("image." + image + ".vendor." + (aligner ? "aligner" : "tower")).floats();
    EXPECT_EQ(mine.size(), theirs.size()) << image;
    for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
      steps.push_back(bf16Steps(mine[i], theirs[i]));
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

// Measured: tower 1 and 6, aligner 1 and 9. Any of the roundings left out or added gives a tower of 7 or an aligner
// of 2 at least.
TEST(VisionTower, VendorRowsFollowTheReferencesRoundings) {
  const std::vector<int> tower = vendorSteps(false);
  EXPECT_LE(tower[tower.size() / 2], 1);
  EXPECT_LE(tower[tower.size() * 9 / 10], 6);
  const std::vector<int> aligner = vendorSteps(true);
  EXPECT_LE(aligner[aligner.size() / 2], 1);
  EXPECT_LE(aligner[aligner.size() * 9 / 10], 9);
}

std::string hashOf(const VisionRows& rows) {
  return shortHash(std::as_bytes(std::span(rows.tower))) + shortHash(std::as_bytes(std::span(rows.aligner)));
}

TEST(VisionTower, InstructionSetAndThreadsChangeNoBit) {
  for (const Numerics numerics : {Numerics::kVendor, Numerics::kFp32}) {
    const std::string expected = hashOf(Subject(numerics, Isa::kScalar, 1).rows("big"));
    for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
      if (!kernelsFor(isa)) continue;
      for (const int threads : {1, 2, 3}) {
        EXPECT_EQ(hashOf(Subject(numerics, isa, threads).rows("big")), expected) << isaName(isa) << " " << threads;
      }
    }
  }
}

TEST(VisionTower, ProfilesDiffer) {
  EXPECT_NE(hashOf(Subject(Numerics::kVendor).rows("up")), hashOf(Subject(Numerics::kFp32).rows("up")));
}

TEST(ImageEncoder, LoadsForTheFirstImageAndGivesEverythingBack) {
  Subject subject(Numerics::kVendor);
  EXPECT_FALSE(subject.encoder().loaded());
  EXPECT_EQ(subject.ledger().total(), 0);
  const std::string first = hashOf(subject.rows("up"));
  EXPECT_TRUE(subject.encoder().loaded());
  const std::int64_t weights = subject.ledger().bytes(MemoryTag::kVision);
  EXPECT_GT(weights, 0);
  EXPECT_EQ(subject.ledger().total(), weights);
  subject.encoder().drop();
  EXPECT_FALSE(subject.encoder().loaded());
  EXPECT_EQ(subject.ledger().total(), 0);
  EXPECT_EQ(hashOf(subject.rows("up")), first);
}

TEST(VisionTower, TakesTheMemoryThatItStates) {
  const auto config = ModelConfig::load(kFixture / "checkpoint");
  const auto kernels = kernelsFor(Isa::kAuto);
  const Team team(2);
  const VisionWeights none;
  const VisionModel model{config->vision, config->hiddenSize, none, **kernels, team};
  const auto ledger = std::make_shared<Ledger>();
  for (const PatchGrid grid : {PatchGrid{3, 111}, PatchGrid{1, 1}, PatchGrid{9, 24}}) {
    const auto tower = VisionTower::create(model, grid, ledger);
    ASSERT_TRUE(tower) << tower.status().message();
    const std::int64_t needed =
        static_cast<std::int64_t>(VisionTower::bytesNeeded(config->vision, config->hiddenSize, grid, team.threads()));
    EXPECT_EQ(ledger->total(), ledger->bytes(MemoryTag::kVision));
    EXPECT_GE(ledger->total(), needed);
    EXPECT_LE(ledger->total(), needed + 5 * 4096);  // five buffers of whole pages
  }
}

TEST(ImageEncoder, EncodesAsTheEngineHandsItOut) {
  const test::GoldenFile golden(kFixture / "golden.safetensors");
  Subject subject(Numerics::kFp32);
  const auto pixels = loadImage(kFixture / "big.png");
  const auto image = subject.encoder().encode(*pixels, {});
  ASSERT_TRUE(image) << image.status().message();
  EXPECT_EQ((*image)->grid.rows, 3);
  EXPECT_EQ((*image)->grid.columns, 8);
  EXPECT_LE(worstDifference((*image)->rows, golden.tensor("image.big.fp32.aligner").floats()), 1e-4);
  EXPECT_EQ((*image)->id, (*subject.encoder().encode(*pixels, {}))->id);
  EXPECT_NE((*image)->id, (*subject.encoder().encode(*loadImage(kFixture / "up.png"), {}))->id);
}

TEST(ImageEncoder, ACancelledImageLeavesItUsable) {
  Subject subject(Numerics::kVendor);
  const std::string expected = hashOf(subject.rows("up"));
  const Cancellation cancellation;
  cancellation.cancel();
  const auto pixels = loadImage(kFixture / "up.png");
  EXPECT_EQ(subject.encoder().encode(*pixels, cancellation).status().code(), Code::kCancelled);
  EXPECT_EQ(hashOf(subject.rows("up")), expected);
}

TEST(ImageEncoder, AMissingTensorIsNamed) {
  auto config = ModelConfig::load(kFixture / "checkpoint");
  ASSERT_TRUE(config);
  const auto shards = ShardSet::open(kFixture / "checkpoint");
  std::vector<TensorInfo> tensors;
  for (const TensorInfo& tensor : (*shards)->tensors()) {
    if (tensor.name != "vision.blocks.1.mlp.w2.weight") tensors.push_back(tensor);
  }
  const auto fewer = ShardSet::assemble((*shards)->shards(), tensors);
  const auto wants = VisionWeights::wants(*config, *fewer);
  ASSERT_FALSE(wants);
  EXPECT_EQ(wants.status().id(), "tensor_missing");
  EXPECT_THAT(wants.status().message(), testing::HasSubstr("vision.blocks.1.mlp.w2.weight"));
  config->vision.inner += 16;
  EXPECT_EQ(VisionWeights::wants(*config, **shards).status().id(), "tensor_shape");
}

TEST(ImageEncoder, AModelWithoutATowerTakesNoImages) {
  auto config = ModelConfig::load(kFixture / "checkpoint");
  const auto shards = ShardSet::open(kFixture / "checkpoint");
  config->vision = {};
  const Team team(1);
  const auto kernels = kernelsFor(Isa::kAuto);
  const auto encoder = ImageEncoder::create(*config, **shards, **kernels, team, Numerics::kFp32, {}, {}, nullptr);
  EXPECT_EQ(encoder.status().id(), "no_images");
}

}  // namespace
}  // namespace colibri

// The bundled checkpoints: all of them open, and every byte of every expert is where the layout says.
#include "checkpoint/expected_tensors.h"
#include "checkpoint/expert_layout.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace colibri {
namespace {

std::vector<std::filesystem::path> bundled() {
  const std::filesystem::path golden(COLIBRI_GOLDEN_DIR);
  std::vector<std::filesystem::path> folders;
  for (const char* name : {"v4/april", "v4/shared-clamp", "v4/dspark", "v4/long", "v4/edge", "v4/yarn", "v41/text",
                           "v41/long", "v41/dspark", "v41/edge", "v41/vision"}) {
    folders.push_back(golden / name / "checkpoint");
  }
  folders.push_back(std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model");
  return folders;
}

TEST(GoldenCheckpoints, OpenAndHaveExactlyTheExpectedTensors) {
  for (const auto& folder : bundled()) {
    const auto config = ModelConfig::load(folder);
    ASSERT_TRUE(config) << folder << ": " << config.status().message();
    const auto set = ShardSet::open(folder);
    ASSERT_TRUE(set) << folder << ": " << set.status().message();
    const auto& tensors = (*set)->tensors();
    std::size_t expected = 0;
    forEachExpected(*config, expertCounts(*config, tensors), detectDraft(*config, tensors),
                    [&](const ExpectedTensor& wanted) {
                      ++expected;
                      const TensorInfo* tensor = (*set)->find(wanted.name);
                      ASSERT_NE(tensor, nullptr) << folder << ": " << wanted.name;
                      const auto finding = compareTensor(wanted, *tensor, "x");
                      EXPECT_FALSE(finding) << folder << ": " << finding->message;
                    });
    EXPECT_EQ(expected, tensors.size()) << folder;
  }
}

TEST(GoldenCheckpoints, LayoutPlacesEveryPartWhereItsTensorLies) {
  for (const auto& folder : bundled()) {
    const auto config = ModelConfig::load(folder);
    const auto set = ShardSet::open(folder);
    ASSERT_TRUE(config && set);
    const auto layout = ExpertLayout::build(*config, **set);
    ASSERT_TRUE(layout) << folder << ": " << layout.status().message();
    ASSERT_EQ(layout->layers(), config->layers);
    for (int layer = 0; layer < layout->layers(); ++layer) {
      ASSERT_EQ(layout->experts(layer), config->routedExperts);
      for (int expert = 0; expert < layout->experts(layer); ++expert) {
        const ExpertPlace& place = layout->place(layer, expert);
        std::uint64_t extentBytes = 0;
        for (const Extent& extent : place.extents) extentBytes += extent.bytes;
        EXPECT_EQ(extentBytes, place.bytes());
        for (std::size_t part = 0; part < kExpertParts; ++part) {
          const TensorInfo* tensor = (*set)->find(expertTensorName(layer, expert, static_cast<ExpertPart>(part)));
          ASSERT_NE(tensor, nullptr);
          const ExpertPartPlace& where = place.parts[part];
          const Extent& extent = place.extents[where.extent];
          EXPECT_EQ(extent.shard, tensor->shard);
          EXPECT_EQ(extent.offset + where.offset, tensor->offset);
          EXPECT_EQ(where.bytes, tensor->bytes);
        }
      }
    }
  }
}

TEST(GoldenCheckpoints, ReleasedLayoutIsTwoExtentsAndScatteredOnesAreMore) {
  const std::filesystem::path golden = std::filesystem::path(COLIBRI_GOLDEN_DIR) / "v4";
  const auto extents = [&](const char* name) {
    const auto folder = golden / name / "checkpoint";
    const auto config = ModelConfig::load(folder);
    const auto set = ShardSet::open(folder);
    const auto layout = ExpertLayout::build(*config, **set);
    EXPECT_TRUE(layout) << layout.status().message();
    return layout ? layout->place(1, 1).extents.size() : 0;
  };
  EXPECT_EQ(extents("april"), 2U);  // three adjacent scales, three adjacent weights
  EXPECT_GE(extents("edge"), 4U);
}

}  // namespace
}  // namespace colibri

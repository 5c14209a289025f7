// Streamed dense weights: which tensors, how much room, and what lies where and when.

#include "store/dense_streaming.h"

#include "engine/io/fault_backend.h"
#include "engine/io/test_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace colibri {
namespace {

using testing::Fault;
using testing::FaultControl;
using ::testing::HasSubstr;

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

TEST(StreamsWhenShort, NamesTheLargeMatricesOfLayers) {
  const auto streams = [](const std::string& name, Dtype dtype, std::vector<std::uint64_t> shape,
                          bool converted = false) {
    std::uint64_t bits = dtypeBits(dtype);
    for (const std::uint64_t side : shape) bits *= side;
    const TensorInfo tensor{name, dtype, std::move(shape), 0, 0, bits / 8};
    return streamsWhenShort({&tensor, MemoryTag::kDense, converted});
  };
  EXPECT_TRUE(streams("layers.0.attn.wq_a.weight", Dtype::kF8E4M3, {1024, 1024}));
  EXPECT_TRUE(streams("layers.42.attn.compressor.wgate.weight", Dtype::kBf16, {1024, 4096}));
  EXPECT_FALSE(streams("layers.42.ffn.gate.weight", Dtype::kBf16, {256, 4096}));
  EXPECT_FALSE(streams("layers.0.attn.wq_a.weight", Dtype::kF8E4M3, {1023, 1024}));
  EXPECT_FALSE(streams("head.weight", Dtype::kBf16, {129280, 4096}));
  EXPECT_FALSE(streams("embed.weight", Dtype::kBf16, {129280, 4096}));
  EXPECT_FALSE(streams("layers.1.attn_norm.weight", Dtype::kBf16, {1 << 20}));
  EXPECT_FALSE(streams("layers.1.ffn.gate.tid2eid", Dtype::kI64, {129280, 6}, true));
  EXPECT_FALSE(streams("layers.1.engram.q_weight", Dtype::kBf16, {4, 1 << 18}, true));
  EXPECT_FALSE(streams("layers.x.weight", Dtype::kBf16, {4096, 4096}));
  EXPECT_FALSE(streams("layers.7", Dtype::kBf16, {4096, 4096}));
  EXPECT_FALSE(streams("layers.99999999.weight", Dtype::kBf16, {4096, 4096}));
}

class DenseStreamTest : public ::testing::Test {
protected:
  /// Appends a tensor of `layer` after `gap` bytes.
  void add(int layer, std::uint64_t bytes, std::uint64_t gap = 0, Dtype dtype = Dtype::kF8E4M3) {
    m_image.resize(m_image.size() + gap);
    const std::uint64_t offset = m_image.size();
    const std::string name = "layers." + std::to_string(layer) + ".w" + std::to_string(m_tensors.size());
    m_tensors.push_back({name, dtype, {1, bytes * 8 / dtypeBits(dtype)}, 0, offset, bytes});
    // Bit 6 is cleared, so that no byte belongs to a NaN.
    for (std::uint64_t i = 0; i < bytes; ++i) m_image.push_back(testing::byteAt(1, offset + i) & std::byte{0x3f});
  }

  [[nodiscard]] std::vector<DenseStore::Want> wants() const {
    std::vector<DenseStore::Want> all;
    for (const TensorInfo& tensor : m_tensors) all.push_back({&tensor, MemoryTag::kDense, false});
    return all;
  }

  void open() {
    const std::filesystem::path path = m_folder.path() / "shard";
    testing::writeBytes(path, m_image);
    auto backend = openReadBackend(std::vector{path}, {IoKind::kThreads, true, 2});
    ASSERT_TRUE(backend.isOk());
    auto stream = DenseStream::create(
        wants(), std::make_unique<testing::FaultBackend>(std::move(backend).value(), m_control), m_ledger);
    ASSERT_TRUE(stream.isOk()) << stream.status().message();
    m_stream = std::move(stream).value();
  }

  /// Whether the layer's tensors stand in their places.
  [[nodiscard]] bool holds(int layer) const {
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    bool right = true;
    m_stream->forEachPlace([&](const std::string& name, const std::byte* place) {
      if (name.compare(0, prefix.size(), prefix) != 0) return;
      const auto tensor =
          std::find_if(m_tensors.begin(), m_tensors.end(), [&](const TensorInfo& t) { return t.name == name; });
      const std::uint64_t element = std::max(1U, dtypeBits(tensor->dtype) / 8);
      right = right && std::memcmp(place, m_image.data() + tensor->offset, tensor->bytes) == 0 &&
              reinterpret_cast<std::uintptr_t>(place) % element == 0;
    });
    return right;
  }

  testing::TemporaryFolder m_folder;
  std::vector<std::byte> m_image;
  std::vector<TensorInfo> m_tensors;
  std::shared_ptr<FaultControl> m_control = std::make_shared<FaultControl>();
  std::shared_ptr<Ledger> m_ledger = std::make_shared<Ledger>();
  std::unique_ptr<DenseStream> m_stream;
};

TEST_F(DenseStreamTest, RoomIsWhatThePlanWasTold) {
  add(0, 3 * kMib);
  add(1, kMib + 1, 100);
  add(1, kMib, 5000);
  add(2, 4 * kMib);
  add(2, kMib - 1);  // stays resident by default
  // Each tensor takes the blocks that it touches; layers 0 and 2 share a window.
  const std::uint64_t odd = (257 + 257) * std::uint64_t{4096};
  const std::uint64_t even = 1025 * std::uint64_t{4096};
  EXPECT_EQ(streamingWindowBytes(wants()), odd + even);
  EXPECT_EQ(streamingWindowBytes({}), 0U);
  m_tensors.pop_back();
  open();
  EXPECT_GE(m_ledger->bytes(MemoryTag::kDense), static_cast<std::int64_t>(odd + even));
  EXPECT_LT(m_ledger->bytes(MemoryTag::kDense), static_cast<std::int64_t>(odd + even + 2 * kMib));
}

TEST_F(DenseStreamTest, LayersComeInTurnWithTheNextOneAhead) {
  for (const int layers : {1, 2, 4, 5}) {
    m_image.clear();
    m_tensors.clear();
    for (int layer = 0; layer < layers; ++layer) {
      add(layer, 10'000, 7);
      add(layer, 4'096, 3, Dtype::kF32);
      add(layer, 6'000, 1, Dtype::kBf16);
    }
    m_control->log.clear();
    m_control->longestDelay = 3;
    open();
    std::vector<std::size_t> readsAfterPass;
    for (int pass = 0; pass < 3; ++pass) {
      for (int layer = 0; layer < layers; ++layer) {
        ASSERT_TRUE(m_stream->ensure(layer, {}).isOk());
        EXPECT_TRUE(holds(layer)) << layer << " of " << layers;
        ASSERT_TRUE(m_stream->ensure(layer, {}).isOk());
        EXPECT_TRUE(holds(layer)) << layer << " of " << layers;
        // The next layer is on its way while this one is used, unless both need one window.
        const bool last = layer + 1 == layers;
        const std::size_t begun = static_cast<std::size_t>(pass * layers + layer + 1);
        if (layers > 2) {
          EXPECT_EQ(m_control->log.size(), 3 * (begun + (last && layers % 2 == 1 ? 0 : 1)));
        }
      }
      m_stream->release();
      readsAfterPass.push_back(m_control->log.size());
    }
    if (layers <= 2) {
      EXPECT_EQ(readsAfterPass.back(), static_cast<std::size_t>(3 * layers)) << "both windows keep what they hold";
    } else {
      EXPECT_EQ(readsAfterPass.back(), static_cast<std::size_t>(3 * (3 * layers + 1)));
    }
    std::uint64_t asked = 0;
    for (const ReadRequest& request : m_control->log) asked += request.bytes;
    EXPECT_EQ(m_stream->stats().bytesRead, asked);
  }
}

TEST_F(DenseStreamTest, AnyOrderOfLayersAndLayersWithoutStreamedTensors) {
  for (const int layer : {0, 1, 3, 4, 6}) add(layer, 20'000, 11);
  m_control->longestDelay = 2;
  open();
  for (const int layer : {4, 0, 6, 2, 5, 3, 1, 1, 0, 6, 4, 7, 100}) {
    ASSERT_TRUE(m_stream->ensure(layer, {}).isOk());
    EXPECT_TRUE(holds(layer)) << layer;
  }
}

TEST_F(DenseStreamTest, DamagedValuesAreNamedWhenALayerIsFirstSeen) {
  for (const int layer : {0, 1, 2}) add(layer, 30'000);
  m_image[m_tensors[1].offset + 77] = std::byte{0x7f};
  open();
  ASSERT_TRUE(m_stream->ensure(0, {}).isOk());
  const Status status = m_stream->ensure(1, {});
  EXPECT_EQ(status.code(), Code::kCheckpoint);
  EXPECT_EQ(status.id(), "bad_value");
  EXPECT_THAT(status.message(), HasSubstr("index 77"));
  EXPECT_TRUE(m_stream->ensure(2, {}).isOk());
}

TEST_F(DenseStreamTest, RefusedReadsAreErrorsOnlyWhenTheLayerIsNeeded) {
  for (const int layer : {0, 1, 2}) add(layer, 30'000);
  open();
  m_control->refuseSubmits = true;
  EXPECT_EQ(m_stream->ensure(0, {}).code(), Code::kIo);
  m_control->refuseSubmits = false;
  EXPECT_TRUE(m_stream->ensure(0, {}).isOk());
  m_control->refuseSubmits = true;
  m_stream->release();
  EXPECT_TRUE(m_stream->ensure(1, {}).isOk()) << "it was read ahead before";
  m_control->refuseSubmits = false;
  EXPECT_TRUE(m_stream->ensure(2, {}).isOk());
  EXPECT_TRUE(holds(2));
}

TEST_F(DenseStreamTest, CancelledWhileTheDriveIsSilent) {
  for (const int layer : {0, 1, 2}) add(layer, 30'000);
  open();
  m_control->stalled = true;
  const Cancellation cancellation;
  cancellation.cancel();
  EXPECT_EQ(m_stream->ensure(2, cancellation).code(), Code::kCancelled);
  m_control->stalled = false;
  // Layer 2 is still on its way into the window of layer 0.
  ASSERT_TRUE(m_stream->ensure(0, {}).isOk());
  EXPECT_TRUE(holds(0));
}

}  // namespace
}  // namespace colibri

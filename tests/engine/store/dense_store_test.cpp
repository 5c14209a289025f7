// Dense weights: every tensor's bytes, whatever its place, size and way of reading; damaged values named.

#include "store/dense_store.h"

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

class DenseStoreTest : public ::testing::Test {
protected:
  /// Appends a tensor after `gap` bytes; values are the pattern, or what `set` makes of it.
  void add(const std::string& name, Dtype dtype, std::uint64_t bytes, std::uint32_t shard, std::uint64_t gap = 0) {
    std::vector<std::byte>& image = m_images[shard];
    image.resize(image.size() + gap);
    const std::uint64_t offset = image.size();
    m_tensors.push_back({name, dtype, {bytes * 8 / dtypeBits(dtype)}, shard, offset, bytes});
    // Bit 6 is cleared, so that no byte belongs to a NaN.
    for (std::uint64_t i = 0; i < bytes; ++i) image.push_back(testing::byteAt(shard, offset + i) & std::byte{0x3f});
  }

  void addMany() {
    add("embed.weight", Dtype::kBf16, 5'000'002, 0, 333);
    add("a.norm.weight", Dtype::kF32, 512, 0);
    add("a.scale", Dtype::kF8E8M0, 77, 0);
    add("empty", Dtype::kF32, 0, 0);
    add("far", Dtype::kI8, 1, 0, 3'000'000);
    add("b.weight", Dtype::kF8E4M3, 2'097'152, 1, 8);
    add("b.scale", Dtype::kF8E8M0, 64, 1, 100'000);
    add("big", Dtype::kF8E4M3, 4'250'000, 1, 1);
  }

  Result<std::unique_ptr<DenseStore>> load(ReadOptions options = {}, const Cancellation& cancellation = {}) {
    std::vector<Shard> shards;
    m_paths.clear();
    for (std::size_t i = 0; i < 2; ++i) {
      m_paths.push_back(m_folder.path() / ("shard" + std::to_string(i)));
      testing::writeBytes(m_paths.back(), m_images[i]);
      shards.push_back({"shard" + std::to_string(i), m_paths.back(), m_images[i].size(), 0, 0});
    }
    std::vector<TensorInfo> sorted = m_tensors;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    m_shards = ShardSet::assemble(std::move(shards), std::move(sorted));
    std::vector<DenseStore::Want> wants;
    for (const TensorInfo& tensor : m_shards->tensors()) {
      wants.push_back({&tensor, tensor.name == "embed.weight" ? MemoryTag::kHead : MemoryTag::kDense});
    }
    auto backend = openReadBackend(m_paths, options);
    EXPECT_TRUE(backend.isOk());
    testing::FaultBackend faults(std::move(backend).value(), m_control);
    return DenseStore::load(
        *m_shards, wants, faults, m_ledger,
        [this](std::uint64_t done, std::uint64_t total) {
          EXPECT_GE(done, m_done);
          EXPECT_LE(done, total);
          m_done = done;
          m_total = total;
        },
        cancellation);
  }

  void set(const std::string& name, std::uint64_t byte, std::uint8_t value) {
    for (const TensorInfo& tensor : m_tensors) {
      if (tensor.name == name) m_images[tensor.shard][tensor.offset + byte] = std::byte{value};
    }
  }

  testing::TemporaryFolder m_folder;
  std::vector<std::filesystem::path> m_paths;
  std::vector<std::vector<std::byte>> m_images{2};
  std::vector<TensorInfo> m_tensors;
  std::shared_ptr<const ShardSet> m_shards;
  std::shared_ptr<FaultControl> m_control = std::make_shared<FaultControl>();
  std::shared_ptr<Ledger> m_ledger = std::make_shared<Ledger>();
  std::uint64_t m_done = 0;
  std::uint64_t m_total = 0;
};

TEST_F(DenseStoreTest, BringsEveryTensorByEveryWay) {
  addMany();
  m_control->longestDelay = 4;
  for (const IoKind kind : {IoKind::kAuto, IoKind::kThreads}) {
    for (const bool direct : {true, false}) {
      m_done = 0;
      auto store = load({kind, direct, 4});
      ASSERT_TRUE(store.isOk()) << store.status().message();
      for (const TensorInfo& tensor : m_tensors) {
        const std::byte* data = (*store)->find(tensor.name);
        ASSERT_NE(data, nullptr) << tensor.name;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U) << tensor.name;
        EXPECT_EQ(std::memcmp(data, m_images[tensor.shard].data() + tensor.offset, tensor.bytes), 0) << tensor.name;
      }
      EXPECT_EQ((*store)->find("absent"), nullptr);
      EXPECT_EQ(m_done, m_total);
      EXPECT_GE(m_ledger->bytes(MemoryTag::kHead), 5'000'002);
      EXPECT_GE(m_ledger->bytes(MemoryTag::kDense), 6'000'000);
      EXPECT_EQ(m_ledger->bytes(MemoryTag::kScratch), 0);
    }
  }
  EXPECT_EQ(m_ledger->total(), 0);
  // Neighbours share reads, and the wide gap is not read.
  EXPECT_LT(m_total, 12'000'000U);
}

TEST_F(DenseStoreTest, NamesDamagedValues) {
  struct Damage {
    const char* tensor;
    std::uint64_t byte;
    std::uint8_t value;
    const char* index;
  };
  for (const Damage& damage :
       {Damage{"a.scale", 76, 0xff, "index 76"}, Damage{"big", 0, 0x7f, "index 0:"},
        Damage{"big", 4'249'999, 0xff, "index 4249999:"}, Damage{"a.norm.weight", 511, 0x7f, "index 127:"}}) {
    m_images.assign(2, {});
    m_tensors.clear();
    m_done = 0;
    addMany();
    set(damage.tensor, damage.byte, damage.value);
    if (std::string(damage.tensor) == "a.norm.weight") set(damage.tensor, 510, 0xc0);
    const auto store = load();
    ASSERT_FALSE(store.isOk()) << damage.tensor;
    EXPECT_EQ(store.status().code(), Code::kCheckpoint);
    EXPECT_EQ(store.status().id(), "bad_value");
    EXPECT_THAT(store.status().message(), HasSubstr(damage.tensor));
    EXPECT_THAT(store.status().message(), HasSubstr(damage.index));
    EXPECT_EQ(m_ledger->total(), 0);
  }
}

TEST_F(DenseStoreTest, FailedAndShortReadsEndTheLoad) {
  addMany();
  for (const Fault fault : {Fault::kFail, Fault::kShort}) {
    int reads = 0;
    m_done = 0;
    m_control->choose = [&](const ReadRequest&) { return ++reads == 2 ? fault : Fault::kNone; };
    const auto store = load();
    EXPECT_EQ(store.status().code(), Code::kIo);
  }
}

TEST_F(DenseStoreTest, CancelledBeforeAndDuring) {
  addMany();
  Cancellation cancellation;
  m_control->choose = [&](const ReadRequest&) {
    if (m_control->log.size() == 2) cancellation.cancel();
    return Fault::kNone;
  };
  EXPECT_EQ(load({}, cancellation).status().code(), Code::kCancelled);
  EXPECT_GT(m_control->log.size(), 0U);
  EXPECT_EQ(m_ledger->total(), 0);
}

}  // namespace
}  // namespace colibri

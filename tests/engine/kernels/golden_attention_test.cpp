// Attention and compression against the released model's own numbers.

#include "engine/kernels/kernel_test.h"

namespace colibri::test {
namespace {

using GoldenAttention = KernelTest;
INSTANTIATE_TEST_SUITE_P(Isa, GoldenAttention, testing::ValuesIn(availableKernels()), kernelTestName);

TEST_P(GoldenAttention, Sparse) {
  const GoldenFile file("kernels/sparse_attention.safetensors");
  const auto q = file.tensor("q").floats();
  const auto kv = file.tensor("kv").floats();
  const auto sink = file.tensor("sink").floats();
  const auto index = file.tensor("idx").as<std::int32_t>();
  constexpr int kHeads = 4;
  constexpr int kWidth = 128;
  constexpr int kEntries = 90;
  const float scale = 1.0F / std::sqrt(static_cast<float>(kWidth));
  std::vector<float> fp32(q.size());
  std::vector<float> vendor(q.size());
  for (int r = 0; r < 5; ++r) {
    std::vector<const float*> keys;
    for (int i = 0; i < kEntries; ++i) {
      const int id = index[r * kEntries + i];
      if (id >= 0) keys.push_back(&kv[static_cast<std::size_t>(id) * kWidth]);
    }
    std::vector<float> scratch(keys.size());
    const int n = static_cast<int>(keys.size());
    const int at = r * kHeads * kWidth;
    kernels().attention(&q[at], kHeads, kWidth, keys.data(), n, sink.data(), scale, false, &fp32[at], scratch.data());
    kernels().attention(&q[at], kHeads, kWidth, keys.data(), n, sink.data(), scale, true, &vendor[at], scratch.data());
  }
  EXPECT_LE(rowError(fp32, file.tensor("o_fp32").floats(), kWidth), 1e-5);
  // The reference rescales by a running maximum before it rounds the probabilities: one bf16 step of the row's largest
  // value.
  EXPECT_LE(rowError(vendor, file.tensor("o_vendor").floats(), kWidth), 1.0 / 128);
}

/// The compressor of one kind over the golden's tokens, from kernels alone; see the golden's json.
std::vector<float> compress(const Kernels& kernels, const GoldenFile& file, const std::string& kind, bool vendor) {
  constexpr int kWidth = 128;
  const bool overlaps = kind != "r128";
  const bool indexer = kind == "r4_indexer";
  const int ratio = overlaps ? 4 : 128;
  const int columns = overlaps ? 2 * kWidth : kWidth;
  const auto x = file.tensor(kind + "/x").floats();
  const int tokens = file.tensor(kind + "/x").dim(0);
  const auto wkv = file.tensor(kind + "/wkv").as<std::uint16_t>();
  const auto wgate = file.tensor(kind + "/wgate").as<std::uint16_t>();
  const auto ape = file.tensor(kind + "/ape").floats();
  const auto norm = file.tensor(kind + "/norm").floats();
  const auto freq = GoldenFile("kernels/rope.safetensors").tensor("comp/freq").floats();

  std::vector<float> a(static_cast<std::size_t>(tokens * columns));
  std::vector<float> s(a.size());
  kernels.linearBf16({x.data(), tokens, kWidth}, wkv.data(), kWidth, {a.data(), columns, 0, columns});
  kernels.linearBf16({x.data(), tokens, kWidth}, wgate.data(), kWidth, {s.data(), columns, 0, columns});
  for (int p = 0; p < tokens; ++p) kernels.add(&ape[p % ratio * columns], &s[p * columns], columns);

  const std::vector<float> zeros(kWidth);
  const std::vector<float> absent(kWidth, -INFINITY);
  std::vector<float> entries;
  for (int block = 0; (block + 1) * ratio <= tokens; ++block) {
    std::vector<const float*> values;
    std::vector<const float*> scores;
    for (int i = -ratio; overlaps && i < 0; ++i) {
      const int p = block * ratio + i;
      values.push_back(p < 0 ? zeros.data() : &a[p * columns]);
      scores.push_back(p < 0 ? absent.data() : &s[p * columns]);
    }
    for (int p = block * ratio; p < (block + 1) * ratio; ++p) {
      values.push_back(&a[p * columns + columns - kWidth]);
      scores.push_back(&s[p * columns + columns - kWidth]);
    }
    std::vector<float> entry(kWidth);
    const auto round = [&] {
      if (vendor) kernels.roundBf16(entry.data(), kWidth);
    };
    kernels.pool(values.data(), scores.data(), static_cast<int>(values.size()), kWidth, entry.data());
    round();
    kernels.rmsNorm(entry.data(), norm.data(), entry.data(), kWidth, 1e-6F);
    round();
    float cosines[32];
    float sines[32];
    ropeAngles(block * ratio, freq.data(), 32, cosines, sines);
    kernels.rope(entry.data() + 64, cosines, sines, 32, false);
    round();
    if (indexer) {
      kernels.hadamard(entry.data(), kWidth);
      round();
      if (vendor) kernels.qdqE2m1(entry.data(), entry.data(), kWidth);
    } else if (vendor) {
      kernels.qdqE4m3(entry.data(), entry.data(), 64, 64);
    }
    entries.insert(entries.end(), entry.begin(), entry.end());
  }
  return entries;
}

TEST_P(GoldenAttention, Compressor) {
  const GoldenFile file("kernels/compressor.safetensors");
  for (const std::string kind : {"r4", "r4_indexer", "r128"}) {
    EXPECT_LE(rowError(compress(kernels(), file, kind, false), file.tensor(kind + "/entries_fp32").floats(), 128), 1e-5)
        << kind;
    // Where a sum lands beside a rounding border the grids part by one of their steps; nearly all values are equal.
    const auto vendor = compress(kernels(), file, kind, true);
    const auto expected = file.tensor(kind + "/entries_vendor").floats();
    ASSERT_EQ(vendor.size(), expected.size());
    int different = 0;
    for (std::size_t i = 0; i < vendor.size(); ++i) different += vendor[i] != expected[i] ? 1 : 0;
    EXPECT_LE(different, static_cast<int>(expected.size()) / 100) << kind;
    RecordProperty("different_" + kind, different);
  }
}

}  // namespace
}  // namespace colibri::test

// What V4.1 adds: expert widths that end inside a block, blocks of 32, the n-gram gate, gelu and the softmax of the
// image tower, each against a plain computation in double.

#include "engine/kernels/kernel_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>

namespace colibri::test {
namespace {

using V41Kernels = KernelTest;
INSTANTIATE_TEST_SUITE_P(Isa, V41Kernels, testing::ValuesIn(availableKernels()), kernelTestName);

std::vector<float> normals(std::mt19937& random, std::size_t n, float size = 1) {
  std::normal_distribution<float> normal(0, size);
  std::vector<float> out(n);
  for (float& v : out) v = normal(random);
  return out;
}

/// A copy of `bytes` behind which nothing can be read.
class AtTheEnd {
public:
  explicit AtTheEnd(const std::vector<std::uint8_t>& bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t room = (bytes.size() + page - 1) / page * page;
    m_size = room + page;
    m_start = mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(m_start, MAP_FAILED);
    auto* start = static_cast<std::uint8_t*>(m_start);
    EXPECT_EQ(mprotect(start + room, page, PROT_NONE), 0);
    m_data = start + room - bytes.size();
    std::memcpy(m_data, bytes.data(), bytes.size());
  }
  AtTheEnd(const AtTheEnd&) = delete;
  AtTheEnd& operator=(const AtTheEnd&) = delete;
  ~AtTheEnd() { munmap(m_start, m_size); }
  [[nodiscard]] const std::uint8_t* data() const { return m_data; }

private:
  void* m_start = nullptr;
  std::uint8_t* m_data = nullptr;
  std::size_t m_size = 0;
};

/// Widths that end inside a block of 128: the numbers of the same row padded with zeros, whatever stands behind it.
TEST_P(V41Kernels, ExpertRowsThatEndInsideABlock) {
  std::mt19937 random(1);
  constexpr int kOutputs = 11;
  for (const int k : {32, 64, 96, 128, 160, 352}) {
    const int padded = (k + 127) / 128 * 128;
    for (const int block : {32, 128}) {
      for (const int rows : {1, 3, 6}) {
        const auto x = normals(random, static_cast<std::size_t>(rows * k));
        std::vector<std::uint8_t> w(static_cast<std::size_t>(kOutputs * k / 2));
        std::vector<std::uint8_t> scale(static_cast<std::size_t>(kOutputs * k / 32));
        for (auto& v : w) v = static_cast<std::uint8_t>(random());
        for (auto& v : scale) v = static_cast<std::uint8_t>(120 + random() % 12);
        std::vector<float> wideX(static_cast<std::size_t>(rows * padded));
        std::vector<std::uint8_t> wideW(static_cast<std::size_t>(kOutputs * padded / 2));
        std::vector<std::uint8_t> wideScale(static_cast<std::size_t>(kOutputs * padded / 32), 127);
        for (int r = 0; r < rows; ++r) std::copy_n(&x[r * k], k, &wideX[r * padded]);
        for (int n = 0; n < kOutputs; ++n) {
          std::copy_n(&w[n * k / 2], k / 2, &wideW[n * padded / 2]);
          std::copy_n(&scale[n * k / 32], k / 32, &wideScale[n * padded / 32]);
        }
        const std::size_t bytes = fp4PreparedBytes(k);
        ASSERT_EQ(bytes, fp4PreparedBytes(padded));
        std::vector<std::byte> prepared(rows * bytes, std::byte{0xff});
        std::vector<std::byte> widePrepared(prepared.size());
        for (int r = 0; r < rows; ++r) {
          kernels().prepareFp4(&x[r * k], k, block, &prepared[r * bytes]);
          kernels().prepareFp4(&wideX[r * padded], padded, block, &widePrepared[r * bytes]);
        }
        ASSERT_EQ(prepared, widePrepared);
        std::vector<float> actual(static_cast<std::size_t>(rows * kOutputs));
        std::vector<float> expected(actual.size());
        kernels().linearFp4(prepared.data(), rows, AtTheEnd(w).data(), AtTheEnd(scale).data(), k,
                            {actual.data(), kOutputs, 0, kOutputs});
        kScalarKernels.linearFp4(widePrepared.data(), rows, wideW.data(), wideScale.data(), padded,
                                 {expected.data(), kOutputs, 0, kOutputs});
        EXPECT_EQ(actual, expected) << k << " rows " << rows;

        // Against the decoded weights and the quantised activation.
        for (int r = 0; r < rows; ++r) {
          std::vector<float> q(static_cast<std::size_t>(k));
          kernels().qdqE4m3(&x[r * k], q.data(), k, block);
          for (int n = 0; n < kOutputs; ++n) {
            double sum = 0;
            double size = 0;
            for (int i = 0; i < k; ++i) {
              const int at = n * k + i;
              const double product = static_cast<double>(q[i]) *
                                     static_cast<double>(e2m1ToFloat(w[at / 2] >> (at % 2 * 4) & 15)) *
                                     static_cast<double>(e8m0ToFloat(scale[at / 32]));
              sum += product;
              size += std::abs(product);
            }
            EXPECT_NEAR(actual[r * kOutputs + n], sum, 1e-6 * size);
          }
        }
        // The scales of the row behind are no part of this one, NaN or not.
        std::vector<std::uint8_t> poisoned = scale;
        std::fill(poisoned.begin() + (kOutputs - 1) * k / 32, poisoned.end(), std::uint8_t{0xff});
        kernels().linearFp4(prepared.data(), rows, w.data(), poisoned.data(), k, {actual.data(), kOutputs, 0, 10});
        EXPECT_EQ(actual, expected);
      }
    }
  }
}

/// Outputs may begin anywhere in a block of scales, as the groups of the output projection do.
TEST_P(V41Kernels, Fp8OutputsFromTheMiddleOfABlock) {
  std::mt19937 random(2);
  constexpr int kOutputs = 80;
  for (const int k : {64, 96, 100}) {
    for (const int block : {32, 128}) {
      for (const int rows : {1, 2, 5}) {
        const auto x = normals(random, static_cast<std::size_t>(rows * k));
        std::vector<std::uint8_t> w(static_cast<std::size_t>(kOutputs * k));
        const int blocks = (k + block - 1) / block;
        std::vector<std::uint8_t> scale(static_cast<std::size_t>((kOutputs + block - 1) / block * blocks));
        for (auto& v : w) v = static_cast<std::uint8_t>(random() % 0x7f + (random() % 2) * 0x80);
        for (auto& v : scale) v = static_cast<std::uint8_t>(118 + random() % 12);
        std::vector<float> scratch(static_cast<std::size_t>(k));
        const AtTheEnd lastW(w);
        const AtTheEnd lastScale(scale);
        for (const auto& [n0, n1] : {std::pair{0, 80}, std::pair{12, 24}, std::pair{21, 47}, std::pair{79, 80}}) {
          std::vector<float> y(static_cast<std::size_t>(rows * kOutputs));
          kernels().linearFp8({x.data(), rows, k}, lastW.data(), lastScale.data(), k, block,
                              {y.data(), kOutputs, n0, n1}, scratch.data());
          for (int r = 0; r < rows; ++r) {
            for (int n = 0; n < kOutputs; ++n) {
              double sum = 0;
              double size = 0;
              for (int i = 0; i < k && n >= n0 && n < n1; ++i) {
                const double product = static_cast<double>(x[r * k + i]) *
                                       static_cast<double>(e4m3ToFloat(w[n * k + i])) *
                                       static_cast<double>(e8m0ToFloat(scale[n / block * blocks + i / block]));
                sum += product;
                size += std::abs(product);
              }
              ASSERT_NEAR(y[r * kOutputs + n], sum, 1e-6 * size) << "k " << k << " n " << n;
            }
          }
        }
      }
    }
  }
}

TEST_P(V41Kernels, GeluWithinItsBound) {
  std::vector<float> x;
  for (std::uint32_t bits = 0; bits < 0x41700000; bits += 4099) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  std::vector<float> y(x.size());
  kernels().gelu(x.data(), y.data(), static_cast<int>(x.size()));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto v = static_cast<double>(x[i]);
    const double exact = v * 0.5 * std::erfc(-v / std::sqrt(2.0));
    const auto magnitude = std::abs(static_cast<float>(exact));
    const double unit = std::max(static_cast<double>(std::nextafterf(magnitude, INFINITY)) - magnitude, 0x1p-148);
    worst = std::max(worst, std::abs(static_cast<double>(y[i]) - exact) / unit);
  }
  EXPECT_LE(worst, 6.0);
  RecordProperty("worst", std::to_string(worst));
  std::vector<float> ends{INFINITY, -INFINITY, NAN, 0.0F, 3e38F, -3e38F, 20.0F, -20.0F};
  kernels().gelu(ends.data(), ends.data(), static_cast<int>(ends.size()));
  EXPECT_EQ(ends[0], INFINITY);
  EXPECT_EQ(ends[1], 0.0F);
  EXPECT_TRUE(std::isnan(ends[2]));
  EXPECT_EQ(ends[3], 0.0F);
  EXPECT_EQ(ends[4], 3e38F);
  EXPECT_EQ(ends[5], 0.0F);
  EXPECT_EQ(ends[6], 20.0F);
  EXPECT_EQ(ends[7], 0.0F);
  std::vector<float> reference(x.size());
  kScalarKernels.gelu(x.data(), reference.data(), static_cast<int>(x.size()));
  EXPECT_EQ(std::memcmp(reference.data(), y.data(), y.size() * sizeof(float)), 0);
}

TEST_P(V41Kernels, SoftmaxWithoutItsDivision) {
  std::mt19937 random(3);
  for (const int n : {1, 5, 16, 17, 31, 32, 100, 1024}) {
    for (const float offset : {0.0F, -50.0F, 300.0F}) {
      auto x = normals(random, static_cast<std::size_t>(n), 4);
      for (float& v : x) v += offset;
      std::vector<float> y(x.size());
      const float sum = kernels().softmaxExp(x.data(), 0.125F, n, y.data());
      const double largest = static_cast<double>(*std::max_element(x.begin(), x.end()));
      double total = 0;
      for (int i = 0; i < n; ++i) {
        const double e = std::exp((static_cast<double>(x[i]) - largest) * 0.125);
        EXPECT_NEAR(y[i], e, 1e-5 * e) << n;
        total += e;
      }
      EXPECT_NEAR(sum, total, 1e-5 * total);
      EXPECT_EQ(*std::max_element(y.begin(), y.end()), 1.0F);
      std::vector<float> reference(x.size());
      EXPECT_EQ(kScalarKernels.softmaxExp(x.data(), 0.125F, n, reference.data()), sum);
      EXPECT_EQ(reference, y);
      EXPECT_EQ(kernels().softmaxExp(x.data(), 0.125F, n, x.data()), sum);
      EXPECT_EQ(x, y) << "in place";
    }
  }
  float bad[] = {1, NAN, 2};
  EXPECT_TRUE(std::isnan(kernels().softmaxExp(bad, 1, 3, bad)));
}

TEST_P(V41Kernels, EngramGate) {
  std::mt19937 random(4);
  for (const int d : {1, 16, 64, 100, 256}) {
    // 0: the gate's argument is 0 (a zero stream); its sign decides between the two sides of sigmoid(1e-3).
    for (const float size : {1.0F, 1e-8F, 300.0F, 0.0F}) {
      const auto width = static_cast<std::size_t>(d);
      auto h = normals(random, 4 * width, size);
      const auto queryWeight = normals(random, 4 * width);
      const auto keyWeight = normals(random, 4 * width);
      const auto key = normals(random, 4 * width, size == 300.0F ? 1e-3F : 2.0F);
      const auto value = normals(random, width);
      const auto before = h;
      auto reference = h;
      kernels().engramGate(h.data(), queryWeight.data(), keyWeight.data(), key.data(), value.data(), d, 1e-20F);
      kScalarKernels.engramGate(reference.data(), queryWeight.data(), keyWeight.data(), key.data(), value.data(), d,
                                1e-20F);
      EXPECT_EQ(std::memcmp(reference.data(), h.data(), h.size() * sizeof(float)), 0);
      for (std::size_t c = 0; c < 4; ++c) {
        double gamma = 0;
        double squares = 0;
        double keySquares = 0;
        double terms = 0;
        for (std::size_t i = c * width; i < (c + 1) * width; ++i) {
          const double term = static_cast<double>(before[i]) * static_cast<double>(queryWeight[i]) *
                              static_cast<double>(keyWeight[i]) * static_cast<double>(key[i]);
          gamma += term;
          terms += std::abs(term);
          squares += static_cast<double>(before[i]) * static_cast<double>(before[i]);
          keySquares += static_cast<double>(key[i]) * static_cast<double>(key[i]);
        }
        const double norm = 1 / std::sqrt(squares / d + 1e-20) / std::sqrt(keySquares / d + 1e-20) / std::sqrt(d);
        gamma *= norm;
        // Near zero the root is steep: what the sum may be off moves it this far.
        const double off = 1e-6 * terms * norm;
        const double root = std::sqrt(std::max(std::abs(gamma), 1e-6));
        const double gate = 1 / (1 + std::exp(-std::copysign(root, gamma)));
        for (std::size_t i = 0; i < width; ++i) {
          const double expected = static_cast<double>(before[c * width + i]) + gate * static_cast<double>(value[i]);
          EXPECT_NEAR(h[c * width + i], expected,
                      1e-6 * (std::abs(expected) + 1) + off / root * std::abs(static_cast<double>(value[i])))
              << d << " stream " << c;
        }
      }
    }
  }
}

/// The other epsilon: a mean of zeros must not overflow, a tiny one must count.
TEST_P(V41Kernels, NormsWithATinyEpsilon) {
  const std::vector<float> zeros(64);
  EXPECT_NEAR(kernels().inverseRms(zeros.data(), 64, 1e-20F), 1e10, 1e4);
  std::vector<float> y(64, 1.0F);
  kernels().rmsNorm(zeros.data(), nullptr, y.data(), 64, 1e-20F);
  EXPECT_EQ(y, zeros);
  const std::vector<float> small(64, 1e-8F);
  kernels().rmsNorm(small.data(), nullptr, y.data(), 64, 1e-20F);
  for (const float v : y) EXPECT_NEAR(v, 1e-8 / std::sqrt(1e-16 + 1e-20), 1e-5);
}

}  // namespace
}  // namespace colibri::test

// Streaming speed of the weight kernels on one thread, beside this machine's read ceiling measured in the same process.
// Both are per second of the thread's own CPU time, so that other work on the machine disturbs them less:
//   bench_kernels [--working-set-mib=1600] [Google Benchmark's options]
// Each row walks over matrices that together fill the working set, so weights come from memory unless the set is small.
// Counters: GB/s of weights and scales, and their ratio to the ceiling; GFLOP/s for several rows of activations.

#include "bench/working_set.h"
#include "kernels/isa_tables.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {
namespace {

/// The weights of all benchmarks and the rate at which this thread can read them.
struct Weights {
  WorkingSet set;
  double readBytesPerSecond = 0;
};

/// Runs `linear(matrix)` over all matrices of `matrixBytes` in turn and reports the rate of weight bytes.
template <typename Linear>
void stream(benchmark::State& state, const Weights& weights, std::size_t matrixBytes, double flops, Linear linear) {
  const std::size_t count = weights.set.size() / matrixBytes;
  std::size_t next = 0;
  for (auto _ : state) {
    linear(weights.set.data() + next * matrixBytes);
    next = next + 1 < count ? next + 1 : 0;
  }
  const double bytes = static_cast<double>(state.iterations()) * static_cast<double>(matrixBytes);
  state.counters["GB/s"] = benchmark::Counter(bytes * 1e-9, benchmark::Counter::kIsRate);
  state.counters["of_ceiling"] = benchmark::Counter(bytes / weights.readBytesPerSecond, benchmark::Counter::kIsRate);
  state.counters["GFLOP/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * flops * 1e-9, benchmark::Counter::kIsRate);
}

std::vector<float> activations(int rows, int k) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<std::size_t>(rows) * static_cast<std::size_t>(k));
  for (float& v : x) v = normal(random);
  return x;
}

void fp4(benchmark::State& state, const Kernels& kernels, const Weights& weights, int rows, bool exact) {
  const MatrixShape shape;
  const auto x = activations(rows, shape.k);
  std::vector<std::byte> prepared(static_cast<std::size_t>(rows) * fp4PreparedBytes(shape.k));
  for (int r = 0; r < rows; ++r) {
    kernels.prepareFp4(&x[static_cast<std::size_t>(r) * shape.k], shape.k, 128,
                       &prepared[r * fp4PreparedBytes(shape.k)]);
  }
  std::vector<float> y(static_cast<std::size_t>(rows) * shape.n);
  const std::size_t codes = shape.fp4CodeBytes();
  const std::size_t scales = shape.fp4ScaleBytes();
  stream(state, weights, codes + scales, 2.0 * shape.n * shape.k * rows, [&](const std::uint8_t* w) {
    const OutView out{y.data(), shape.n, 0, shape.n};
    if (exact) {
      kernels.linearFp4(prepared.data(), rows, w, w + codes, shape.k, out);
    } else {
      kernels.linearFp4F32({x.data(), rows, shape.k}, w, w + codes, shape.k, out);
    }
    benchmark::ClobberMemory();
  });
}

void fp8(benchmark::State& state, const Kernels& kernels, const Weights& weights, int rows, int block) {
  const MatrixShape shape;
  const auto x = activations(rows, shape.k);
  std::vector<float> y(static_cast<std::size_t>(rows) * shape.n);
  std::vector<float> scratch(shape.k);
  const std::size_t codes = static_cast<std::size_t>(shape.n) * shape.k;
  const std::size_t scales = static_cast<std::size_t>(shape.n / block) * (shape.k / block);
  stream(state, weights, codes + scales, 2.0 * shape.n * shape.k * rows, [&](const std::uint8_t* w) {
    kernels.linearFp8({x.data(), rows, shape.k}, w, w + codes, shape.k, block, {y.data(), shape.n, 0, shape.n},
                      scratch.data());
    benchmark::ClobberMemory();
  });
}

void bf16(benchmark::State& state, const Kernels& kernels, const Weights& weights, int rows) {
  const MatrixShape shape;
  const auto x = activations(rows, shape.k);
  std::vector<float> y(static_cast<std::size_t>(rows) * shape.n);
  const std::size_t bytes = static_cast<std::size_t>(shape.n) * shape.k * 2;
  stream(state, weights, bytes, 2.0 * shape.n * shape.k * rows, [&](const std::uint8_t* w) {
    kernels.linearBf16({x.data(), rows, shape.k}, reinterpret_cast<const std::uint16_t*>(w), shape.k,
                       {y.data(), shape.n, 0, shape.n});
    benchmark::ClobberMemory();
  });
}

/// One token's attention over a window of 128 and 512 selected entries, as a layer of the released model has it.
void attention(benchmark::State& state, const Kernels& kernels) {
  constexpr int kHeads = 64;
  constexpr int kWidth = 512;
  constexpr int kEntries = 640;
  const auto q = activations(kHeads, kWidth);
  const auto kv = activations(kEntries, kWidth);
  const std::vector<float> sinks(kHeads);
  std::vector<const float*> keys;
  for (int t = 0; t < kEntries; ++t) keys.push_back(&kv[static_cast<std::size_t>(t) * kWidth]);
  std::vector<float> out(q.size());
  std::vector<float> scratch(kEntries);
  for (auto _ : state) {
    kernels.attention(q.data(), kHeads, kWidth, keys.data(), kEntries, sinks.data(), 0.0442F, true, out.data(),
                      scratch.data());
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * 4e-9 * kHeads * kWidth * kEntries, benchmark::Counter::kIsRate);
}

/// The 512 entries that a query of V4.1 chose, from their 288 bytes each.
void unpackEntries(benchmark::State& state, const Kernels& kernels) {
  constexpr int kWidth = 512;
  constexpr int kEntries = 512;
  constexpr std::size_t kStride = kWidth / 2 + kWidth / 16;
  const auto x = activations(kEntries, kWidth);
  std::vector<std::uint8_t> rows(kEntries * kStride);
  for (std::size_t t = 0; t < kEntries; ++t)
    kernels.encodeE2m1Groups16(&x[t * kWidth], kWidth, &rows[t * kStride], &rows[t * kStride + kWidth / 2]);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    for (std::size_t t = 0; t < kEntries; ++t)
      kernels.decodeE2m1Groups16(&rows[t * kStride], &rows[t * kStride + kWidth / 2], kWidth, &y[t * kWidth]);
    benchmark::ClobberMemory();
  }
  state.counters["Gvalue/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * 1e-9 * kWidth * kEntries,
                                                  benchmark::Counter::kIsRate);
}

/// One query of 64 heads against 4096 index keys, as numbers and packed.
void indexScores(benchmark::State& state, const Kernels& kernels, bool packed) {
  constexpr int kHeads = 64;
  constexpr int kWidth = 128;
  constexpr int kKeys = 4096;
  constexpr std::size_t kStride = kWidth / 2 + kWidth / 32;
  const auto q = activations(kHeads, kWidth);
  const auto w = activations(1, kHeads);
  auto keys = activations(kKeys, kWidth);
  std::vector<std::uint8_t> rows(kKeys * kStride);
  for (std::size_t t = 0; t < kKeys; ++t) {
    std::uint8_t* row = &rows[t * kStride];
    auto* exponents = reinterpret_cast<std::int8_t*>(row + kWidth / 2);
    kernels.encodeE2m1(&keys[t * kWidth], kWidth, row, exponents);
    kernels.decodeE2m1(row, exponents, kWidth, &keys[t * kWidth]);
  }
  std::vector<float> scores(kKeys);
  std::vector<float> scratch(kWidth);
  for (auto _ : state) {
    if (packed) {
      kernels.indexScoresPacked(q.data(), w.data(), kHeads, kWidth, rows.data(), kStride, kKeys, true, scores.data(),
                                scratch.data());
    } else {
      kernels.indexScores(q.data(), w.data(), kHeads, kWidth, keys.data(), kKeys, true, scores.data());
    }
    benchmark::ClobberMemory();
  }
  state.counters["Mkey/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 1e-6 * kKeys, benchmark::Counter::kIsRate);
}

void registerAll(const Weights& weights) {
  for (const Kernels* kernels : availableKernels()) {
    const std::string isa(kernels->name);
    const auto add = [](const std::string& name, auto function) {
      benchmark::RegisterBenchmark(name.c_str(), function)->Unit(benchmark::kMillisecond);
    };
    add("fp4_matvec/" + isa, [=, &weights](benchmark::State& state) { fp4(state, *kernels, weights, 1, true); });
    add("fp4_f32_matvec/" + isa, [=, &weights](benchmark::State& state) { fp4(state, *kernels, weights, 1, false); });
    for (const int block : {128, 32}) {
      const std::string name = block == 128 ? "fp8" : "fp8_block32";
      add(name + "_matvec/" + isa, [=, &weights](benchmark::State& state) { fp8(state, *kernels, weights, 1, block); });
      add(name + "_gemm/" + isa + "/rows:8",
          [=, &weights](benchmark::State& state) { fp8(state, *kernels, weights, 8, block); });
    }
    add("bf16_matvec/" + isa, [=, &weights](benchmark::State& state) { bf16(state, *kernels, weights, 1); });
    add("fp8_gemm/" + isa + "/rows:32",
        [=, &weights](benchmark::State& state) { fp8(state, *kernels, weights, 32, 128); });
    for (const int rows : {8, 32}) {
      const std::string suffix = "/" + isa + "/rows:" + std::to_string(rows);
      add("fp4_gemm" + suffix, [=, &weights](benchmark::State& state) { fp4(state, *kernels, weights, rows, true); });
    }
    add("attention/" + isa, [=](benchmark::State& state) { attention(state, *kernels); });
    add("unpack_entries/" + isa, [=](benchmark::State& state) { unpackEntries(state, *kernels); });
    for (const bool packed : {false, true}) {
      add((packed ? "index_scores_packed/" : "index_scores/") + isa,
          [=](benchmark::State& state) { indexScores(state, *kernels, packed); });
    }
  }
}

/// Takes --working-set-mib=N out of the arguments; 0 when N is no number.
std::size_t workingSetBytes(int& argc, char** argv) {
  constexpr std::string_view kOption = "--working-set-mib=";
  std::size_t mib = 1600;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (argument.starts_with(kOption)) {
      const std::string_view number = argument.substr(kOption.size());
      if (std::from_chars(number.data(), number.data() + number.size(), mib).ec != std::errc()) mib = 0;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return mib << 20;
}

int run(int argc, char** argv) {
  const std::size_t bytes = workingSetBytes(argc, argv);
  constexpr std::size_t kLargestMatrix = std::size_t{2304} * 5120 * 2;
  if (bytes < kLargestMatrix || bytes > std::size_t{64} << 30) {
    std::fprintf(stderr, "--working-set-mib wants a number from 23 to 65536.\n");
    return 2;
  }
  auto set = WorkingSet::create(bytes);
  if (!set) {
    std::fprintf(stderr, "%s\n", set.status().message().c_str());
    return 1;
  }
  Weights weights{std::move(*set)};
  weights.readBytesPerSecond = weights.set.readRate();
  std::printf("read ceiling: %.2f GB/s over %zu MiB, one thread, best of 5\n", weights.readBytesPerSecond * 1e-9,
              bytes >> 20);
  registerAll(weights);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  std::printf("read ceiling afterwards: %.2f GB/s\n", weights.set.readRate() * 1e-9);
  return 0;
}

}  // namespace
}  // namespace colibri

int main(int argc, char** argv) {
  return colibri::run(argc, argv);
}

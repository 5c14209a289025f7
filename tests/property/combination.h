#pragma once
// One way to compute logits out of all that must give the same bits, and running it.

#include "engine/io/fault_backend.h"
#include "property/subject.h"
#include "session/teacher_forcing.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace colibri::test {

/// A point of the grid. 0 means all there is (slots, chunk, segment) or just enough (context).
struct Combination {
  int threads = 1;
  Isa isa = Isa::kAuto;
  int slots = 0;
  int chunk = 0;
  int segment = 0;
  int context = 0;  ///< tokens of context beyond the prompt's
  bool direct = true;
  IoChoice io = IoChoice::kAuto;
  int queueDepth = 8;
  TeacherOptions::Via via = TeacherOptions::Via::kPrefill;
  int split = 0;
  bool mirror = false;    ///< a second folder with the same shards
  bool prefetch = false;  ///< guess the next layer's experts
  bool preload = false;
  int longestDelay = 0;  ///< reads are held back for up to this many polls and overtake each other
  std::uint64_t delaySeed = 1;
};

/// Instruction sets that can be chosen on this processor.
[[nodiscard]] std::vector<Isa> availableIsas();

/// Combinations that differ from the plain one in one axis only; every value of every axis for prompts of `length`.
[[nodiscard]] std::vector<Combination> singleAxes(const Subject& subject, int length);
/// Any combination of all axes, the same for the same generator state.
[[nodiscard]] Combination randomCombination(const Subject& subject, int length, std::mt19937_64& random);

/// The options of an engine for prompts of `length` tokens.
[[nodiscard]] EngineOptions engineOptions(const Subject& subject, Numerics numerics, const Combination& combination,
                                          std::size_t length);
/// An engine whose expert reads go through a FaultBackend; null (and a test failure) when it does not open.
[[nodiscard]] std::shared_ptr<EngineCore> openEngine(const EngineOptions& options,
                                                     const std::shared_ptr<testing::FaultControl>& control);

/// Logits [tokens][vocab] of a prompt.
struct LogitRows {
  std::vector<float> values;
  int vocab = 0;

  [[nodiscard]] std::span<const float> row(std::size_t index) const {
    return std::span(values).subspan(index * static_cast<std::size_t>(vocab), static_cast<std::size_t>(vocab));
  }
  /// What `coli logits --out -` prints.
  [[nodiscard]] std::string hash() const;
};

/// Computes all positions with a new engine and a new session.
[[nodiscard]] LogitRows computeRows(const Subject& subject, Numerics numerics, const Combination& combination,
                                    std::span<const TokenId> prompt);

/// Passes when both have the same bits; else says where they differ first and how to repeat it.
::testing::AssertionResult sameBits(std::span<const float> expected, std::span<const float> actual);
/// The combination as a command line; the prompt is written beside the test program. Reads that are held back can only
/// be repeated by the test itself.
[[nodiscard]] std::string describe(const Subject& subject, Numerics numerics, const Combination& combination,
                                   std::span<const TokenId> prompt);

/// Runs `combinations` and compares each with `expected`.
void expectInvariant(const Subject& subject, Numerics numerics, std::span<const Combination> combinations,
                     std::span<const TokenId> prompt, const LogitRows& expected);

/// Seed of the random combinations: COLIBRI_PROPERTY_SEED, or a fixed one.
[[nodiscard]] std::uint64_t propertySeed();

}  // namespace colibri::test

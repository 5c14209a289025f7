#include "property/combination.h"

#include "base/hash.h"
#include "kernels/isa_tables.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace colibri::test {
namespace {

constexpr int kThreads[] = {1, 2, 3};
constexpr int kChunks[] = {1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 64, 127, 128, 129};
constexpr int kSegments[] = {1, 3, 16, 29, 64};
constexpr int kDelays[] = {1, 4, 20};

std::vector<int> slotCounts(const Subject& subject) {
  const int k = subject.expertsPerToken;
  std::vector<int> counts{1, k - 1, k, k + 1, 0};
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

template <typename T, std::size_t N>
T pick(const T (&values)[N], std::mt19937_64& random) {
  return values[random() % N];
}
template <typename T>
T pick(const std::vector<T>& values, std::mt19937_64& random) {
  return values[random() % values.size()];
}

std::string viaName(const Combination& combination) {
  switch (combination.via) {
    case TeacherOptions::Via::kDecode:
      return "decode";
    case TeacherOptions::Via::kSplit:
      return "split:" + std::to_string(combination.split);
    default:
      return "prefill";
  }
}

/// A folder with copies of the subject's shards.
std::filesystem::path mirrorOf(const Subject& subject) {
  const std::filesystem::path folder =
      std::filesystem::path(COLIBRI_BINARY_DIR) / ("property-mirror-" + subject.name + "-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (const auto& entry : std::filesystem::directory_iterator(subject.folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    const std::filesystem::path copy = folder / entry.path().filename();
    if (!std::filesystem::exists(copy)) std::filesystem::copy_file(entry.path(), copy);
  }
  return folder;
}

/// Writes the prompt as `coli logits --tokens` reads it and returns the path.
std::string writePrompt(const Subject& subject, std::span<const TokenId> prompt) {
  const std::string path =
      std::string(COLIBRI_BINARY_DIR) + "/property-" + subject.name + "-" + std::to_string(prompt.size()) + ".json";
  std::ofstream(path) << nlohmann::json(std::vector<TokenId>(prompt.begin(), prompt.end())).dump();
  return path;
}

}  // namespace

std::vector<Isa> availableIsas() {
  std::vector<Isa> isas;
  for (const Kernels* table : availableKernels()) isas.push_back(table->isa);
  isas.erase(std::unique(isas.begin(), isas.end()), isas.end());
  return isas;
}

std::vector<Combination> singleAxes(const Subject& subject, int length) {
  std::vector<Combination> all;
  const auto add = [&](auto change) {
    Combination combination;
    change(combination);
    all.push_back(combination);
  };
  for (const int threads : kThreads) add([&](Combination& c) { c.threads = threads; });
  for (const Isa isa : availableIsas()) add([&](Combination& c) { c.isa = isa; });
  for (const int slots : slotCounts(subject)) add([&](Combination& c) { c.slots = slots; });
  for (const int chunk : kChunks) {
    if (chunk < length) add([&](Combination& c) { c.chunk = chunk; });
  }
  for (const int segment : kSegments) {
    if (segment < length) add([&](Combination& c) { c.segment = segment; });
  }
  for (const bool direct : {true, false}) {
    for (const IoChoice io : {IoChoice::kAuto, IoChoice::kThreads}) {
      add([&](Combination& c) {
        c.direct = direct;
        c.io = io;
        c.slots = 1;
      });
    }
  }
  for (const int delay : kDelays) {
    add([&](Combination& c) {
      c.longestDelay = delay;
      c.slots = subject.expertsPerToken + 1;
    });
  }
  for (const int slots : {subject.expertsPerToken + 1, 0}) {
    for (const IoChoice io : {IoChoice::kAuto, IoChoice::kThreads}) {
      add([&](Combination& c) {
        c.mirror = true;
        c.slots = slots;
        c.io = io;
      });
    }
    add([&](Combination& c) {
      c.preload = true;
      c.slots = slots;
    });
    // Guesses are tried from the ninth decoded token on.
    add([&](Combination& c) {
      c.prefetch = true;
      c.slots = slots;
      c.via = TeacherOptions::Via::kDecode;
    });
  }
  add([](Combination& c) { c.queueDepth = 1; });
  add([](Combination& c) { c.context = 37; });
  add([](Combination& c) { c.via = TeacherOptions::Via::kDecode; });
  for (const int split : {1, length / 2, length - 1}) {
    add([&](Combination& c) {
      c.via = TeacherOptions::Via::kSplit;
      c.split = split;
    });
  }
  return all;
}

Combination randomCombination(const Subject& subject, int length, std::mt19937_64& random) {
  Combination c;
  // A team of more threads than there are free cores is slow; half of the combinations do without.
  c.threads = random() % 2 == 0 ? 1 : pick(kThreads, random);
  c.isa = pick(availableIsas(), random);
  c.slots = pick(slotCounts(subject), random);
  c.chunk = random() % 8 == 0 ? 0 : pick(kChunks, random);
  c.segment = random() % 2 == 0 ? 0 : pick(kSegments, random);
  c.context = static_cast<int>(random() % 40);
  c.direct = random() % 2 == 0;
  c.io = random() % 2 == 0 ? IoChoice::kAuto : IoChoice::kThreads;
  c.queueDepth = random() % 2 == 0 ? 8 : 1;
  c.longestDelay = random() % 3 == 0 ? 0 : pick(kDelays, random);
  c.delaySeed = random();
  c.mirror = random() % 2 == 0;
  c.prefetch = random() % 2 == 0;
  c.preload = random() % 4 == 0;
  switch (random() % 4) {
    case 0:
      c.via = TeacherOptions::Via::kDecode;
      break;
    case 1:
      break;
    default:
      c.via = TeacherOptions::Via::kSplit;
      c.split = static_cast<int>(random() % static_cast<unsigned>(length + 1));
  }
  return c;
}

EngineOptions engineOptions(const Subject& subject, Numerics numerics, const Combination& combination,
                            std::size_t length) {
  EngineOptions options;
  options.model = subject.folder;
  options.needTokenizer = false;
  options.numerics = numerics;
  options.indexKeys = subject.indexKeys;
  options.context = std::min(subject.contextLimit, static_cast<int>(length) + combination.context);
  options.threads = combination.threads;
  options.isa = combination.isa;
  if (combination.slots > 0) options.cacheExperts = static_cast<std::uint64_t>(combination.slots);
  options.prefillChunk = combination.chunk > 0 ? combination.chunk : options.context;
  options.prefillSegment = combination.segment > 0 ? combination.segment : options.context;
  options.direct = combination.direct;
  options.io = combination.io;
  options.queueDepth = combination.queueDepth;
  options.prefetch = combination.prefetch;
  options.preload = combination.preload;
  if (combination.mirror) options.mirrors.push_back(mirrorOf(subject));
  return options;
}

std::shared_ptr<EngineCore> openEngine(const EngineOptions& options,
                                       const std::shared_ptr<testing::FaultControl>& control) {
  auto engine = EngineCore::open(options, {}, {}, [&](std::unique_ptr<ReadBackend> inner) {
    return std::make_unique<testing::FaultBackend>(std::move(inner), control);
  });
  EXPECT_TRUE(engine.isOk()) << engine.status().message();
  return engine.isOk() ? engine.value() : nullptr;
}

std::string LogitRows::hash() const {
  return shortHash(std::as_bytes(std::span(values)));
}

LogitRows computeRows(const Subject& subject, Numerics numerics, const Combination& combination,
                      std::span<const TokenId> prompt) {
  const auto control = std::make_shared<testing::FaultControl>();
  control->longestDelay = combination.longestDelay;
  control->seed = combination.delaySeed;
  LogitRows rows;
  rows.vocab = subject.vocabSize;
  const auto engine = openEngine(engineOptions(subject, numerics, combination, prompt.size()), control);
  if (!engine) return rows;
  TeacherOptions teacher;
  teacher.via = combination.via;
  teacher.split = combination.split;
  const auto tensors = computeLogits(*engine, prompt, teacher, {});
  EXPECT_TRUE(tensors.isOk()) << tensors.status().message();
  if (!tensors.isOk()) return rows;
  const std::vector<std::byte>& data = tensors.value().front().data;
  rows.values.resize(data.size() / sizeof(float));
  std::memcpy(rows.values.data(), data.data(), data.size());
  EXPECT_EQ(rows.values.size(), prompt.size() * static_cast<std::size_t>(subject.vocabSize));
  EXPECT_FALSE(control->log.empty()) << "no expert was read";
  return rows;
}

::testing::AssertionResult sameBits(std::span<const float> expected, std::span<const float> actual) {
  if (expected.size() != actual.size()) {
    return ::testing::AssertionFailure() << actual.size() << " values instead of " << expected.size();
  }
  std::size_t first = expected.size();
  std::size_t different = 0;
  for (std::size_t i = expected.size(); i-- > 0;) {
    if (std::bit_cast<std::uint32_t>(expected[i]) == std::bit_cast<std::uint32_t>(actual[i])) continue;
    first = i;
    ++different;
  }
  if (different == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << different << " of " << expected.size() << " values differ, first number "
                                       << first << ": " << actual[first] << " instead of " << expected[first];
}

std::string describe(const Subject& subject, Numerics numerics, const Combination& c, std::span<const TokenId> prompt) {
  const EngineOptions options = engineOptions(subject, numerics, c, prompt.size());
  std::ostringstream line;
  line << "coli logits " << subject.folder.string() << " --tokens " << writePrompt(subject, prompt) << " --out -"
       << " --via " << viaName(c) << " --numerics " << numericsName(numerics) << " --threads " << c.threads << " --isa "
       << isaName(c.isa) << " --ctx " << options.context << " --prefill-chunk " << *options.prefillChunk
       << " --prefill-segment " << *options.prefillSegment << " --direct " << (c.direct ? "on" : "off") << " --io "
       << (c.io == IoChoice::kAuto ? "auto" : "threads") << " --queue-depth " << c.queueDepth;
  if (subject.indexKeys == IndexKeyRule::kOwner) line << " --index-keys owner";
  if (c.slots > 0) line << " --cache-experts " << c.slots;
  if (c.mirror) line << " --mirror " << options.mirrors.front().string();
  if (c.prefetch) line << " --prefetch auto";
  if (c.preload) line << " --preload on";
  if (c.longestDelay > 0) {
    line << "   (reads held back for up to " << c.longestDelay << " polls, seed " << c.delaySeed << ")";
  }
  return line.str();
}

void expectInvariant(const Subject& subject, Numerics numerics, std::span<const Combination> combinations,
                     std::span<const TokenId> prompt, const LogitRows& expected) {
  const std::size_t vocab = static_cast<std::size_t>(subject.vocabSize);
  for (const Combination& combination : combinations) {
    const LogitRows rows = computeRows(subject, numerics, combination, prompt);
    const bool ownWay = subject.viaMatters && combination.via != TeacherOptions::Via::kPrefill;
    Combination plain;
    plain.via = combination.via;
    plain.split = combination.split;
    const LogitRows sameWay = ownWay ? computeRows(subject, numerics, plain, prompt) : LogitRows();
    const LogitRows& wanted = ownWay ? sameWay : expected;
    if (rows.hash() == wanted.hash()) continue;
    const auto differs = std::mismatch(
        rows.values.begin(), rows.values.end(), wanted.values.begin(), wanted.values.end(),
        [](float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); });
    ADD_FAILURE() << "hash " << rows.hash() << " instead of " << wanted.hash() << ", from position "
                  << static_cast<std::size_t>(differs.first - rows.values.begin()) / vocab << " of " << prompt.size()
                  << " on: " << sameBits(wanted.values, rows.values).message() << "\nRepeat with\n  "
                  << describe(subject, numerics, combination, prompt);
  }
}

std::uint64_t propertySeed() {
  const char* text = std::getenv("COLIBRI_PROPERTY_SEED");
  return text == nullptr ? 20260801 : std::strtoull(text, nullptr, 10);
}

}  // namespace colibri::test

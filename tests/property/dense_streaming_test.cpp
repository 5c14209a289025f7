// Dense weights read anew for every pass give the bits of resident ones, and nothing that goes wrong with those reads
// gets into a result.

#include "store/dense_streaming.h"

#include "property/combination.h"
#include <colibri/session.h>

namespace colibri::test {
namespace {

/// An engine whose layers' matrices, down to the smallest, come through a stream with faults.
class Streamed {
public:
  Streamed(const Subject& subject, Numerics numerics, const Combination& combination, std::size_t length) {
    m_engine = openEngine(engineOptions(subject, numerics, combination, length), m_expertReads);
    if (m_engine) load(subject.folder, combination);
  }

  /// Back to the empty sequence.
  void restart() {
    auto state = SequenceState::create(m_engine->config(), m_engine->layers(), m_engine->options().context,
                                       m_engine->options().numerics, nullptr);
    ASSERT_TRUE(state.isOk());
    m_state = std::move(state).value();
  }

  Status extend(std::span<const TokenId> tokens, std::vector<float>& rows, const Cancellation& cancellation = {}) {
    const auto vocab = static_cast<std::size_t>(m_engine->config().vocabSize);
    std::vector<float> logits(tokens.size() * vocab);
    ForwardOutput output;
    output.want = ForwardOutput::Logits::kAll;
    output.logits = logits.data();
    Status status = m_transformer->forward(*m_state, {tokens, {}}, output, cancellation, time);
    if (status.isOk()) rows.insert(rows.end(), logits.begin(), logits.end());
    return status;
  }

  [[nodiscard]] bool isOpen() const { return m_transformer != nullptr; }
  [[nodiscard]] int readsOfLayer(int layer) const {
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    int reads = 0;
    m_dense->stream()->forEachPlace([&](const std::string& name, const std::byte*) {
      if (name.compare(0, prefix.size(), prefix) == 0) ++reads;
    });
    return reads;
  }
  [[nodiscard]] DenseStream& stream() { return *m_dense->stream(); }

  std::shared_ptr<testing::FaultControl> denseReads = std::make_shared<testing::FaultControl>();
  TimeLedger time;

private:
  void load(const std::filesystem::path& folder, const Combination& combination) {
    denseReads->longestDelay = combination.longestDelay;
    denseReads->seed = combination.delaySeed;
    const auto shards = ShardSet::open(folder, {});
    ASSERT_TRUE(shards.isOk());
    std::vector<std::filesystem::path> paths;
    for (const Shard& shard : shards.value()->shards()) paths.push_back(shard.path);
    auto resident = openReadBackend(paths, {});
    auto streamed = openReadBackend(paths, {IoKind::kThreads, true, 2});
    ASSERT_TRUE(resident.isOk() && streamed.isOk());
    const auto wants = ModelWeights::wants(m_engine->config(), m_engine->layers(), *shards.value());
    ASSERT_TRUE(wants.isOk());
    DenseStreaming streaming{std::make_unique<testing::FaultBackend>(std::move(streamed).value(), denseReads), 1};
    auto dense = DenseStore::loadStreaming(*shards.value(), wants.value(), *resident.value(), std::move(streaming),
                                           nullptr, {}, {});
    ASSERT_TRUE(dense.isOk()) << dense.status().message();
    m_dense = std::move(dense).value();
    auto weights = ModelWeights::bind(m_engine->config(), m_engine->layers(), *shards.value(), *m_dense);
    ASSERT_TRUE(weights.isOk()) << weights.status().message();
    m_weights = std::move(weights).value();
    const ModelContext& own = m_engine->transformer().context();
    m_transformer = std::make_unique<Transformer>(ModelContext{own.config, own.plan, m_weights, own.kernels, own.team,
                                                               own.experts, own.work, own.numerics, m_dense->stream(),
                                                               own.indexKeys, own.engram});
    restart();
  }

  std::shared_ptr<testing::FaultControl> m_expertReads = std::make_shared<testing::FaultControl>();
  std::shared_ptr<EngineCore> m_engine;
  std::unique_ptr<DenseStore> m_dense;
  ModelWeights m_weights;
  std::unique_ptr<Transformer> m_transformer;
  std::unique_ptr<SequenceState> m_state;
};

class StreamedDense : public ::testing::TestWithParam<SubjectCase> {
protected:
  Subject m_subject = openSubject(GetParam().name);
  std::vector<TokenId> m_prompt = m_subject.prompt(21);
  LogitRows m_expected = computeRows(m_subject, GetParam().numerics, {}, m_prompt);
};

TEST_P(StreamedDense, GivesTheSameBitsHoweverItIsCut) {
  const std::span<const TokenId> prompt(m_prompt);
  for (const int chunk : {0, 5}) {
    for (const int delay : {0, 4}) {
      Combination combination;
      combination.chunk = chunk;
      combination.longestDelay = delay;
      Streamed model(m_subject, GetParam().numerics, combination, prompt.size());
      ASSERT_TRUE(model.isOpen());
      // At once, then as a prefill with decoding behind it.
      for (const std::size_t prefill : {prompt.size(), std::size_t{13}}) {
        model.restart();
        std::vector<float> rows;
        ASSERT_TRUE(model.extend(prompt.first(prefill), rows).isOk());
        for (std::size_t i = prefill; i < prompt.size(); ++i)
          ASSERT_TRUE(model.extend(prompt.subspan(i, 1), rows).isOk());
        EXPECT_TRUE(sameBits(m_expected.values, rows)) << "chunk " << chunk << ", delay " << delay;
      }
      EXPECT_GT(model.stream().stats().bytesRead, 0U);
      EXPECT_GT(model.time.seconds(TimeCause::kDiskWait), 0.0);
    }
  }
}

// A failed read ends the pass, and the next pass is whole.
TEST_P(StreamedDense, FailedReadsEndThePassAndNotTheSession) {
  for (const testing::Fault fault : {testing::Fault::kFail, testing::Fault::kShort}) {
    for (const bool atFirst : {true, false}) {
      Streamed model(m_subject, GetParam().numerics, {}, m_prompt.size());
      ASSERT_TRUE(model.isOpen());
      const int from = atFirst ? 0 : model.readsOfLayer(0) + 2;
      int reads = 0;
      model.denseReads->choose = [&](const ReadRequest&) { return reads++ < from ? testing::Fault::kNone : fault; };
      std::vector<float> rows;
      const Status status = model.extend(m_prompt, rows);
      EXPECT_EQ(status.code(), Code::kIo) << status.message();
      EXPECT_TRUE(rows.empty());
      model.denseReads->choose = {};
      model.restart();
      ASSERT_TRUE(model.extend(m_prompt, rows).isOk());
      EXPECT_TRUE(sameBits(m_expected.values, rows));
    }
  }
}

// What fails ahead of need is read once more when it is needed.
TEST_P(StreamedDense, FailedReadAheadHeals) {
  Streamed model(m_subject, GetParam().numerics, {}, m_prompt.size());
  ASSERT_TRUE(model.isOpen());
  int reads = 0;
  const int failing = model.readsOfLayer(0) + 1;
  model.denseReads->choose = [&](const ReadRequest&) {
    return reads++ == failing ? testing::Fault::kFail : testing::Fault::kNone;
  };
  std::vector<float> rows;
  const Status status = model.extend(m_prompt, rows);
  EXPECT_TRUE(status.isOk()) << status.message();
  EXPECT_GT(reads, failing);
  EXPECT_TRUE(sameBits(m_expected.values, rows));
  model.denseReads->choose = {};
}

TEST_P(StreamedDense, StopsWhileItWaitsForTheDrive) {
  const std::span<const TokenId> prompt(m_prompt);
  for (const int layer : {0, 1}) {
    Streamed model(m_subject, GetParam().numerics, {}, prompt.size());
    ASSERT_TRUE(model.isOpen());
    const Cancellation cancellation;
    int reads = 0;
    model.denseReads->choose = [&](const ReadRequest&) {
      if (reads++ == layer * model.readsOfLayer(0) + 1) {
        model.denseReads->stalled = true;
        cancellation.cancel();
      }
      return testing::Fault::kNone;
    };
    std::vector<float> rows;
    EXPECT_EQ(model.extend(prompt, rows, cancellation).code(), Code::kCancelled);
    // What was on its way lands in a window that the next pass wants for another layer.
    model.denseReads->stalled = false;
    model.denseReads->choose = {};
    model.restart();
    ASSERT_TRUE(model.extend(prompt, rows).isOk());
    EXPECT_TRUE(sameBits(m_expected.values, rows));
  }
}

TEST_P(StreamedDense, AnswersAreTheSameAndAFailedTurnIsNotTheLast) {
  const std::vector<TokenId> prompt = m_subject.prompt(9);
  const EngineOptions options = engineOptions(m_subject, GetParam().numerics, {}, prompt.size() + 7);
  GenerateOptions how;
  how.maxTokens = 6;
  how.ignoreEos = true;
  const auto reads = std::make_shared<testing::FaultControl>();
  DenseStreamingHook hook;
  hook.always = true;
  hook.threshold = 1;
  hook.wrap = [&](std::unique_ptr<ReadBackend> inner) {
    return std::make_unique<testing::FaultBackend>(std::move(inner), reads);
  };
  const auto plain = EngineCore::open(options, {}, {});
  const auto streamed = EngineCore::open(options, {}, {}, {}, hook);
  ASSERT_TRUE(plain.isOk() && streamed.isOk());
  const auto plainSession = (*plain)->newSession();
  const auto session = (*streamed)->newSession();
  ASSERT_TRUE(plainSession.isOk() && session.isOk());
  const auto expected = (*plainSession)->generate(prompt, how, {}, {});
  ASSERT_TRUE(expected.isOk());

  reads->choose = [](const ReadRequest&) { return testing::Fault::kFail; };
  const auto failed = (*session)->generate(prompt, how, {}, {});
  EXPECT_EQ(failed.isOk() ? failed->error.code() : failed.status().code(), Code::kIo);
  reads->choose = {};
  const auto whole = (*session)->generate(prompt, how, {}, {});
  ASSERT_TRUE(whole.isOk()) << whole.status().message();
  EXPECT_EQ(whole->tokens, expected->tokens);
  EXPECT_FALSE(reads->log.empty());
  const TimeSplit& split = whole->timings.split;
  EXPECT_GT(split.diskWaitSeconds, 0.0);
  EXPECT_NEAR(
      split.diskWaitSeconds + split.expertSeconds + split.denseSeconds + split.attentionSeconds + split.otherSeconds,
      whole->timings.prefillSeconds + whole->timings.decodeSeconds, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Subjects, StreamedDense, ::testing::ValuesIn(someSubjects()), caseName);

}  // namespace
}  // namespace colibri::test

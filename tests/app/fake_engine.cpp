#include "fake_engine.h"

#include <thread>
#include <utility>

namespace colibri::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// One id a byte: enough to see which prompt arrived.
class ByteTokenizer : public Tokenizer {
public:
  std::vector<TokenId> encode(std::string_view text, bool) const override {
    std::vector<TokenId> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  std::vector<TokenId> encode(std::span<const TextSegment> segments) const override {
    std::vector<TokenId> ids;
    for (const TextSegment& segment : segments) {
      const auto part = encode(segment.text, segment.control);
      ids.insert(ids.end(), part.begin(), part.end());
    }
    return ids;
  }
  std::string decode(std::span<const TokenId> ids, bool) const override {
    std::string text;
    for (const TokenId id : ids) text += static_cast<char>(id);
    return text;
  }
  std::string_view bytes(TokenId) const override { return {}; }
  std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }
  bool isSpecial(TokenId) const override { return false; }
  int vocabSize() const override { return 256; }
};

/// Waits in small steps, as a real engine looks at its cancellation between tiles.
bool waitOrCancel(microseconds time, const Cancellation& cancellation) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (cancellation.isCancelled()) return false;
    std::this_thread::sleep_for(std::min<microseconds>(time, milliseconds(1)));
  }
  return !cancellation.isCancelled();
}

void waitUntilCancelled(const Cancellation& cancellation) {
  while (!cancellation.isCancelled()) std::this_thread::sleep_for(milliseconds(1));
}

class FakeSession : public Session {
public:
  explicit FakeSession(std::shared_ptr<FakeScript> script) : m_script(std::move(script)) {}

  using Session::generate;
  using Session::sync;
  Status sync(const ModelInput&, const Cancellation&, const std::function<void(const PrefillEvent&)>&) override {
    return Status::ok();
  }
  Status append(TokenId, const Cancellation&) override { return Status::ok(); }
  std::span<const TokenId> tokens() const override { return {}; }
  std::span<const float> logits() const override { return {}; }
  void reset() override {}

  Result<Answer> generate(const ModelInput& input, const GenerateOptions& options, const Cancellation& cancellation,
                          const GenerateCallbacks& callbacks) override {
    const std::span<const TokenId> prompt = input.tokens;
    if (!m_script->startError.isOk()) return m_script->startError;
    m_script->lastPrompt.assign(prompt.begin(), prompt.end());
    m_script->lastOptions = options;
    m_script->insideGenerate = true;
    Answer answer = run(prompt, options, cancellation, callbacks);
    m_script->insideGenerate = false;
    return answer;
  }

private:
  Answer run(std::span<const TokenId> prompt, const GenerateOptions& options, const Cancellation& cancellation,
             const GenerateCallbacks& callbacks) {
    const auto total = static_cast<std::int64_t>(prompt.size());
    Answer answer;
    answer.promptTokens = total;
    answer.finishReason = FinishReason::kCancelled;
    answer.timings.split = {0.4, 0.3, 0.1, 0.15, 0.05};
    answer.timings.prefillSeconds = 0.25;
    answer.timings.decodeSeconds = 0.75;
    answer.timings.firstTokenSeconds = 0.3;
    answer.timings.decodeTokensPerSecond = 4;
    answer.experts.requests = m_script->requests;
    answer.experts.hits = m_script->hits;
    for (int step = 1; step <= m_script->prefillSteps; ++step) {
      if (!waitOrCancel(m_script->prefillPause, cancellation)) return answer;
      callbacks.prefill({total * step / m_script->prefillSteps, total, 25});
    }
    for (std::size_t i = 0; i < m_script->pieces.size(); ++i) {
      if (m_script->stallAt == i) waitUntilCancelled(cancellation);
      if (!waitOrCancel(m_script->pause, cancellation)) return answer;
      if (m_script->failAt == i) {
        answer.finishReason = FinishReason::kError;
        answer.error = Status(Code::kIo, "read_failed", "A read of shard 17 failed three times. Check the drive.");
        return answer;
      }
      if (options.maxTokens >= 0 && answer.completionTokens >= options.maxTokens) {
        answer.finishReason = FinishReason::kLength;
        return answer;
      }
      const std::string& text = m_script->pieces[i];
      callbacks.token({static_cast<TokenId>(i), text, -0.5});
      answer.text += text;
      answer.tokens.push_back(static_cast<TokenId>(i));
      ++answer.completionTokens;
    }
    answer.finishReason = FinishReason::kStop;
    return answer;
  }

  std::shared_ptr<FakeScript> m_script;
};

class FakeEngine : public Engine {
public:
  FakeEngine(EngineOptions options, std::shared_ptr<FakeScript> script)
      : m_options(std::move(options)), m_script(std::move(script)) {
    ++m_script->enginesAlive;
    m_model.name = "Fake";
    m_model.layers = 4;
    m_model.expertsPerLayer = 8;
    m_plan.expertSlots = 12;
    m_plan.usedBytes = 3ULL << 30;
    m_plan.budgetBytes = 4ULL << 30;
  }
  ~FakeEngine() override { --m_script->enginesAlive; }

  const EngineOptions& options() const override { return m_options; }
  const EnginePlan& plan() const override { return m_plan; }
  const ModelSummary& model() const override { return m_model; }
  double loadSeconds() const override { return 0.5; }
  const Tokenizer* tokenizer() const override { return m_script->hasTokenizer ? &m_tokenizer : nullptr; }
  std::vector<std::uint8_t> residency() const override { return {}; }
  std::vector<std::uint8_t> heat() const override { return {}; }
  std::vector<DriveCounters> drives() const override { return {}; }
  Prediction predict(std::int64_t, std::int64_t) const override { return {}; }
  std::vector<std::string> takeNotices() override { return {}; }
  Status writeTrace(const std::filesystem::path&) const override {
    return Status(Code::kUsage, "no_trace", "Nothing was recorded.");
  }
  LiveCounters live() const override {
    LiveCounters counters;
    counters.expertRequests = m_script->requests;
    counters.expertHits = m_script->hits;
    counters.memoryBytes = 3LL << 30;
    counters.memoryBudgetBytes = 4LL << 30;
    return counters;
  }
  Result<std::shared_ptr<const EncodedImage>> encodeImage(const ImagePixels&, const Cancellation&) override {
    return Status(Code::kUnavailable, "no_images", "This model takes no images.");
  }
  Result<std::unique_ptr<Session>> newSession() override {
    return std::unique_ptr<Session>(std::make_unique<FakeSession>(m_script));
  }

private:
  EngineOptions m_options;
  std::shared_ptr<FakeScript> m_script;
  ModelSummary m_model;
  EnginePlan m_plan;
  ByteTokenizer m_tokenizer;
};

}  // namespace

app::EngineFactory fakeFactory(std::shared_ptr<FakeScript> script) {
  return [script](const EngineOptions& options, const std::function<void(const LoadProgress&)>& progress,
                  const Cancellation& cancellation) -> Result<std::shared_ptr<Engine>> {
    progress({0, 100});
    if (script->openStalls) waitUntilCancelled(cancellation);
    if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Loading was cancelled.");
    if (!script->openError.isOk()) return script->openError;
    progress({100, 100});
    return std::shared_ptr<Engine>(std::make_shared<FakeEngine>(options, script));
  };
}

EngineOptions fakeOptions() {
  EngineOptions options;
  options.model = std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model";
  return options;
}

}  // namespace colibri::test

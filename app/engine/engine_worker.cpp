#include "app/engine/engine_worker.h"

#include "app/engine/failure.h"

#include <QElapsedTimer>

#include <utility>

namespace colibri::app {
namespace {

// More often would only fill the GUI's queue; the bar steps four times a second.
constexpr qint64 kProgressMilliseconds = 100;

AnswerPiece toPiece(const CompletionDelta& delta, bool inReasoning, bool isToken) {
  AnswerPiece piece;
  piece.content = QString::fromStdString(delta.content);
  piece.reasoning = QString::fromStdString(delta.reasoning);
  piece.inReasoning = inReasoning;
  piece.isToken = isToken;
  return piece;
}

}  // namespace

EngineWorker::EngineWorker(EngineFactory factory, TelemetrySampler* sampler)
    : m_factory(std::move(factory)), m_sampler(sampler) {}

void EngineWorker::load(CommandId id, const EngineOptions& options, const Cancellation& cancellation) {
  // Two models at once would need the memory of both.
  release();
  QElapsedTimer sinceProgress;
  const auto progress = [&](const LoadProgress& state) {
    if (sinceProgress.isValid() && sinceProgress.elapsed() < kProgressMilliseconds &&
        state.doneBytes < state.totalBytes)
      return;
    sinceProgress.start();
    emit loadProgress(id, state.doneBytes, state.totalBytes);
  };
  if (cancellation.isCancelled()) {
    emit loadFailed(
        id, describeFailure(Status(Code::kCancelled, "cancelled", "Loading was cancelled."), Activity::kLoading));
    return;
  }
  auto opened = m_factory(options, progress, cancellation);
  if (!opened.isOk()) {
    emit loadFailed(id, describeFailure(opened.status(), Activity::kLoading));
    return;
  }
  auto session = opened.value()->newSession();
  if (!session.isOk()) {
    emit loadFailed(id, describeFailure(session.status(), Activity::kLoading));
    return;
  }
  auto dialect = detectDialect(options.model);
  if (!dialect.isOk()) {
    emit loadFailed(id, describeFailure(dialect.status(), Activity::kLoading));
    return;
  }
  m_engine = std::move(opened).value();
  m_session = std::move(session).value();
  m_dialect = dialect->dialect;
  QMetaObject::invokeMethod(m_sampler, [sampler = m_sampler, engine = m_engine] { sampler->setEngine(engine); });
  LoadedModel model;
  model.summary = m_engine->model();
  model.plan = m_engine->plan();
  model.loadSeconds = m_engine->loadSeconds();
  model.contextTokens = m_engine->options().context;
  model.canChat = m_engine->tokenizer() != nullptr;
  emit loaded(id, model);
}

void EngineWorker::ask(CommandId id, const std::vector<ChatMessage>& messages, const AskOptions& options,
                       const Cancellation& cancellation) {
  emit asked(id);
  QMetaObject::invokeMethod(m_sampler, [sampler = m_sampler] { sampler->setBusy(true); });
  auto answer = generate(id, messages, options, cancellation);
  QMetaObject::invokeMethod(m_sampler, [sampler = m_sampler] { sampler->setBusy(false); });
  if (answer.isOk()) {
    emit done(id, answer.value());
  } else if (answer.status().code() == Code::kCancelled) {
    Answer empty;
    empty.finishReason = FinishReason::kCancelled;
    emit done(id, empty);
  } else {
    emit askFailed(id, describeFailure(answer.status(), Activity::kAnswering));
  }
}

Result<Answer> EngineWorker::generate(CommandId id, const std::vector<ChatMessage>& messages, const AskOptions& options,
                                      const Cancellation& cancellation) {
  if (!m_engine || !m_session) return Status(Code::kUsage, "no_model", "No model is loaded. Load one, then ask again.");
  if (!m_engine->tokenizer())
    return Status(Code::kCheckpoint, "tokenizer_missing",
                  "The model's folder has no tokenizer.json, so text cannot be read or written. Add that file.");
  if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped before it began.");
  ChatOptions chat;
  chat.thinking = options.thinking;
  chat.effort = options.effort;
  COLIBRI_ASSIGN_OR_RETURN(const Prompt prompt, renderPrompt(messages, chat, m_dialect));
  const std::vector<TokenId> tokens = m_engine->tokenizer()->encode(prompt.segments);

  GenerateOptions generation;
  generation.maxTokens = options.maxTokens;
  generation.sampling = options.sampling;
  generation.startsInReasoning = prompt.startsInReasoning;
  CompletionOptions completion;
  completion.startsInReasoning = prompt.startsInReasoning;
  completion.toolsOffered = false;
  CompletionParser parser(completion);
  GenerateCallbacks callbacks;
  callbacks.prefill = [&](const PrefillEvent& progress) { emit prefill(id, progress); };
  callbacks.token = [&](const TokenEvent& token) {
    const CompletionDelta delta = parser.push(token.text);
    emit piece(id, toPiece(delta, parser.inReasoning(), token.id >= 0));
  };
  auto answer = m_session->generate(tokens, generation, cancellation, callbacks);
  if (answer.isOk()) {
    const CompletionDelta rest = parser.finish(answer->finishReason != FinishReason::kStop);
    if (!rest.content.empty() || !rest.reasoning.empty()) emit piece(id, toPiece(rest, false, false));
  }
  return answer;
}

void EngineWorker::unload() {
  release();
  emit unloaded();
}

void EngineWorker::release() {
  if (!m_engine) return;
  // Waited for, so that the last reference is dropped here and the engine is never destroyed on the sampler's thread.
  QMetaObject::invokeMethod(
      m_sampler, [sampler = m_sampler] { sampler->setEngine(nullptr); }, Qt::BlockingQueuedConnection);
  m_session.reset();
  m_engine.reset();
}

}  // namespace colibri::app

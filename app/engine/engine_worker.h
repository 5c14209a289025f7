#pragma once
// The half of EngineThread that runs on the engine's thread: it owns the engine and its one session.

#include "app/engine/engine_messages.h"
#include "app/engine/telemetry_sampler.h"

#include <QObject>

#include <functional>
#include <memory>
#include <vector>

namespace colibri::app {

/// How an engine is made; Engine::open in the program, a fake one in tests. Called on the engine's thread.
using EngineFactory = std::function<Result<std::shared_ptr<Engine>>(
    const EngineOptions&, const std::function<void(const LoadProgress&)>&, const Cancellation&)>;

/// Every call belongs to the engine's thread and returns when its work is done.
class EngineWorker : public QObject {
  Q_OBJECT

public:
  /// `sampler` outlives the worker's thread.
  EngineWorker(EngineFactory factory, TelemetrySampler* sampler);

  void load(CommandId id, const EngineOptions& options, const Cancellation& cancellation);
  void ask(CommandId id, const std::vector<ChatMessage>& messages, const AskOptions& options,
           const Cancellation& cancellation);
  /// Frees the model; safe without one.
  void unload();

signals:
  void loadProgress(quint64 id, quint64 doneBytes, quint64 totalBytes);
  void loaded(quint64 id, const colibri::app::LoadedModel& model);
  void loadFailed(quint64 id, const colibri::app::Failure& failure);
  void unloaded();
  void asked(quint64 id);
  void prefill(quint64 id, const colibri::PrefillEvent& progress);
  void piece(quint64 id, const colibri::app::AnswerPiece& piece);
  void done(quint64 id, const colibri::Answer& answer);
  void askFailed(quint64 id, const colibri::app::Failure& failure);

private:
  Result<Answer> generate(CommandId id, const std::vector<ChatMessage>& messages, const AskOptions& options,
                          const Cancellation& cancellation);
  void release();

  EngineFactory m_factory;
  TelemetrySampler* m_sampler;
  std::shared_ptr<Engine> m_engine;
  std::unique_ptr<Session> m_session;
  Dialect m_dialect = Dialect::kA;
};

}  // namespace colibri::app

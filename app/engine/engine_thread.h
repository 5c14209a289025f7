#pragma once
// The engine's thread as the GUI sees it: commands go in, queued signals come out, and no call here waits.

#include "app/engine/engine_messages.h"
#include "app/engine/engine_worker.h"

#include <QObject>
#include <QThread>

#include <map>
#include <vector>

namespace colibri::app {

/// All calls and signals belong to the thread that made it (the GUI's). The destructor cancels what runs and waits for
/// it, which the engine answers within 100 ms.
class EngineThread : public QObject {
  Q_OBJECT

public:
  explicit EngineThread(EngineFactory factory, QObject* parent = nullptr);
  ~EngineThread() override;

  /// Loads a model in place of the one there; stops an answer or a load that runs. Ends in loaded() or loadFailed().
  CommandId load(const EngineOptions& options);
  /// Cancels a load that runs; it ends in loadFailed() with Code::kCancelled.
  void cancelLoad();
  /// Stops what runs and frees the model.
  void unload();
  /// Asks for an answer to a conversation whose last message is the user's. Ends in done() or askFailed().
  CommandId ask(const std::vector<ChatMessage>& messages, const AskOptions& options);
  /// Stops every answer that was asked for and is not done; each still ends in done(), with what was generated so far.
  void stop();

signals:
  void loadStarted(quint64 id, const QString& folder);
  void loadProgress(quint64 id, quint64 doneBytes, quint64 totalBytes);
  void loaded(quint64 id, const colibri::app::LoadedModel& model);
  void loadFailed(quint64 id, const colibri::app::Failure& failure);
  void unloaded();
  void asked(quint64 id);
  void stopping();
  void prefill(quint64 id, const colibri::PrefillEvent& progress);
  void piece(quint64 id, const colibri::app::AnswerPiece& piece);
  void done(quint64 id, const colibri::Answer& answer);
  void askFailed(quint64 id, const colibri::app::Failure& failure);
  void telemetry(const colibri::app::TelemetrySample& sample);

private:
  CommandId next(std::map<CommandId, Cancellation>& commands);
  void cancelAll(const std::map<CommandId, Cancellation>& commands) const;

  QThread m_engineThread;
  QThread m_samplerThread;
  TelemetrySampler* m_sampler;  // deleted with its thread
  EngineWorker* m_worker;       // deleted with its thread
  CommandId m_lastId = 0;
  std::map<CommandId, Cancellation> m_loads;
  std::map<CommandId, Cancellation> m_asks;
};

}  // namespace colibri::app

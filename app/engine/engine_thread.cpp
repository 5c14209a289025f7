#include "app/engine/engine_thread.h"

#include <utility>

namespace colibri::app {

EngineThread::EngineThread(EngineFactory factory, QObject* parent)
    : QObject(parent), m_sampler(new TelemetrySampler), m_worker(new EngineWorker(std::move(factory), m_sampler)) {
  m_samplerThread.setObjectName(QStringLiteral("sampler"));
  m_engineThread.setObjectName(QStringLiteral("engine"));
  // Kernels keep small tiles on the stack; the default of a secondary thread differs between systems.
  m_engineThread.setStackSize(8 << 20);
  m_sampler->moveToThread(&m_samplerThread);
  m_worker->moveToThread(&m_engineThread);
  connect(&m_samplerThread, &QThread::finished, m_sampler, &QObject::deleteLater);
  connect(&m_engineThread, &QThread::finished, m_worker, &QObject::deleteLater);

  connect(m_worker, &EngineWorker::loadProgress, this, &EngineThread::loadProgress);
  connect(m_worker, &EngineWorker::loaded, this, [this](quint64 id, const LoadedModel& model) {
    m_loads.erase(id);
    emit loaded(id, model);
  });
  connect(m_worker, &EngineWorker::loadFailed, this, [this](quint64 id, const Failure& failure) {
    m_loads.erase(id);
    emit loadFailed(id, failure);
  });
  connect(m_worker, &EngineWorker::unloaded, this, &EngineThread::unloaded);
  connect(m_worker, &EngineWorker::asked, this, &EngineThread::asked);
  connect(m_worker, &EngineWorker::prefill, this, &EngineThread::prefill);
  connect(m_worker, &EngineWorker::piece, this, &EngineThread::piece);
  connect(m_worker, &EngineWorker::done, this, [this](quint64 id, const Answer& answer) {
    m_asks.erase(id);
    emit done(id, answer);
  });
  connect(m_worker, &EngineWorker::askFailed, this, [this](quint64 id, const Failure& failure) {
    m_asks.erase(id);
    emit askFailed(id, failure);
  });
  connect(m_sampler, &TelemetrySampler::sampled, this, [this](const TelemetrySample& sample) {
    m_sampler->acknowledge();
    emit telemetry(sample);
  });

  m_samplerThread.start(QThread::LowPriority);
  m_engineThread.start();
}

EngineThread::~EngineThread() {
  cancelAll(m_loads);
  cancelAll(m_asks);
  // The worker frees the engine before its thread ends, and needs the sampler's event loop for that.
  QMetaObject::invokeMethod(m_worker, [worker = m_worker] { worker->unload(); });
  QMetaObject::invokeMethod(m_worker, [thread = &m_engineThread] { thread->quit(); });
  m_engineThread.wait();
  m_samplerThread.quit();
  m_samplerThread.wait();
}

CommandId EngineThread::next(std::map<CommandId, Cancellation>& commands) {
  ++m_lastId;
  commands.emplace(m_lastId, Cancellation());
  return m_lastId;
}

void EngineThread::cancelAll(const std::map<CommandId, Cancellation>& commands) const {
  for (const auto& command : commands) command.second.cancel();
}

CommandId EngineThread::load(const EngineOptions& options) {
  cancelAll(m_loads);
  cancelAll(m_asks);
  const CommandId id = next(m_loads);
  emit loadStarted(id, QString::fromStdString(options.model.string()));
  QMetaObject::invokeMethod(m_worker, [worker = m_worker, id, options, cancellation = m_loads.at(id)] {
    worker->load(id, options, cancellation);
  });
  return id;
}

void EngineThread::cancelLoad() {
  cancelAll(m_loads);
}

void EngineThread::unload() {
  cancelAll(m_loads);
  cancelAll(m_asks);
  QMetaObject::invokeMethod(m_worker, [worker = m_worker] { worker->unload(); });
}

CommandId EngineThread::ask(const std::vector<ChatMessage>& messages, const AskOptions& options) {
  const CommandId id = next(m_asks);
  QMetaObject::invokeMethod(m_worker, [worker = m_worker, id, messages, options, cancellation = m_asks.at(id)] {
    worker->ask(id, messages, options, cancellation);
  });
  return id;
}

void EngineThread::stop() {
  if (m_asks.empty()) return;
  cancelAll(m_asks);
  emit stopping();
}

}  // namespace colibri::app

#include "app/library/model_service.h"

#include "app/engine/failure.h"

#include <utility>

namespace colibri::app {

ModelService::ModelService(EngineThread* engine, DemoModelFinder findDemo, EngineOptionsMaker makeOptions,
                           QObject* parent)
    : QObject(parent), m_engine(engine), m_findDemo(std::move(findDemo)), m_makeOptions(std::move(makeOptions)) {
  // Only the last load counts: an earlier one that was replaced still reports its own end.
  connect(engine, &EngineThread::loadProgress, this, [this](quint64 id, quint64 doneBytes, quint64 totalBytes) {
    if (id != m_command) return;
    m_loadedBytes = doneBytes;
    m_totalBytes = totalBytes;
    emit progressChanged();
  });
  connect(engine, &EngineThread::loaded, this, [this](quint64 id, const LoadedModel& model) {
    if (id != m_command) return;
    m_model = model;
    if (!m_isDemo) m_name = QString::fromStdString(model.summary.name);
    m_state = State::kReady;
    emit changed();
  });
  connect(engine, &EngineThread::loadFailed, this, [this](quint64 id, const Failure& failure) {
    if (id == m_command) fail(failure);
  });
  connect(engine, &EngineThread::unloaded, this, [this] {
    if (m_state == State::kNone || m_state == State::kLoading) return;
    m_state = State::kNone;
    emit changed();
  });
}

void ModelService::load(const QString& folder) {
  start(std::filesystem::path(folder.toStdString()), false);
}

void ModelService::loadDemo() {
  auto demo = m_findDemo();
  if (!demo.isOk()) {
    fail(describeFailure(demo.status(), Activity::kLoading));
    return;
  }
  start(*demo, true);
}

void ModelService::retry() {
  if (!m_folder.isEmpty()) start(std::filesystem::path(m_folder.toStdString()), m_isDemo);
}

void ModelService::cancel() {
  m_engine->cancelLoad();
}

void ModelService::unload() {
  m_engine->unload();
}

void ModelService::start(const std::filesystem::path& folder, bool isDemo) {
  m_isDemo = isDemo;
  m_folder = QString::fromStdString(folder.string());
  m_name = isDemo ? tr("Demo model") : QString::fromStdString(folder.filename().string());
  m_loadedBytes = 0;
  m_totalBytes = 0;
  auto options = m_makeOptions(folder);
  if (!options.isOk()) {
    fail(describeFailure(options.status(), Activity::kLoading));
    return;
  }
  m_state = State::kLoading;
  m_command = m_engine->load(*options);
  emit changed();
}

void ModelService::fail(const Failure& failure) {
  m_failure = failure;
  m_state = failure.code == Code::kCancelled ? State::kNone : State::kFailed;
  emit changed();
}

void ModelService::show(const QString& folder, const LoadedModel& model) {
  m_folder = folder;
  m_name = QString::fromStdString(model.summary.name);
  m_model = model;
  m_state = State::kReady;
  emit changed();
}

}  // namespace colibri::app

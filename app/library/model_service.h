#pragma once
// Which model is loaded, is being loaded or could not be: one state for all pages.

#include "app/engine/engine_thread.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <functional>

namespace colibri::app {

/// Finds the folder of the bundled demo model.
using DemoModelFinder = std::function<Result<std::filesystem::path>()>;
/// Options for a model folder, from the settings.
using EngineOptionsMaker = std::function<Result<EngineOptions>(const std::filesystem::path&)>;

/// Lives on the GUI thread. Beyond the settings, which are small, it reads no file.
class ModelService : public QObject {
  Q_OBJECT

public:
  enum class State { kNone, kLoading, kReady, kFailed };

  /// `engine` outlives this object.
  ModelService(EngineThread* engine, DemoModelFinder findDemo, EngineOptionsMaker makeOptions,
               QObject* parent = nullptr);

  void load(const QString& folder);
  void loadDemo();
  /// The last folder again, after a failure.
  void retry();
  void cancel();
  void unload();

  [[nodiscard]] State state() const { return m_state; }
  [[nodiscard]] bool isDemo() const { return m_isDemo; }
  [[nodiscard]] const QString& folder() const { return m_folder; }
  /// Name of the folder while loading, of the model after.
  [[nodiscard]] const QString& name() const { return m_name; }
  /// Valid in State::kReady.
  [[nodiscard]] const LoadedModel& model() const { return m_model; }
  /// Valid in State::kFailed.
  [[nodiscard]] const Failure& failure() const { return m_failure; }
  [[nodiscard]] quint64 loadedBytes() const { return m_loadedBytes; }
  /// 0 while unknown.
  [[nodiscard]] quint64 totalBytes() const { return m_totalBytes; }

  /// A loaded model without an engine, for pictures.
  void show(const QString& folder, const LoadedModel& model);

signals:
  void changed();
  void progressChanged();

private:
  void start(const std::filesystem::path& folder, bool isDemo);
  void fail(const Failure& failure);

  EngineThread* m_engine;
  DemoModelFinder m_findDemo;
  EngineOptionsMaker m_makeOptions;
  State m_state = State::kNone;
  CommandId m_command = 0;
  bool m_isDemo = false;
  QString m_folder;
  QString m_name;
  LoadedModel m_model;
  Failure m_failure;
  quint64 m_loadedBytes = 0;
  quint64 m_totalBytes = 0;
};

}  // namespace colibri::app

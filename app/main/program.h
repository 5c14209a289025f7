#pragma once
// The parts of the running program, put together: services, view-models, the QML engine and its window.

#include "app/core/program_options.h"
#include "app/core/refusing_network.h"
#include "app/engine/engine_status.h"
#include "app/engine/engine_thread.h"
#include "app/library/model_service.h"
#include "chat_view_model.h"
#include "models_view_model.h"

#include <QQmlApplicationEngine>
#include <QQuickWindow>

#include <memory>

namespace colibri::app {

/// GUI thread. Members are destroyed in reverse order: first the window, last the engine's thread.
class Program {
public:
  explicit Program(const ProgramOptions& options);

  /// Loads the window; false when its QML is broken (the warnings say why).
  bool createWindow();

  [[nodiscard]] QQuickWindow* window() const { return m_window; }
  [[nodiscard]] EngineStatus& status() { return m_status; }
  [[nodiscard]] ModelService& models() { return m_models; }
  [[nodiscard]] ChatViewModel& chat() { return m_chat; }
  [[nodiscard]] ModelsViewModel& modelsPage() { return m_modelsPage; }

  /// Shows one of pageNames().
  void showPage(const QString& page);
  /// Draws the window as it is into a file. kIo when it cannot be written.
  Status savePicture(const QString& file, const QSize& pixels);

private:
  ProgramOptions m_options;
  EngineThread m_engineThread;
  EngineStatus m_status;
  ModelService m_models;
  ChatViewModel m_chat;
  ModelsViewModel m_modelsPage;
  RefusingNetworkFactory m_network;
  QQmlApplicationEngine m_qml;
  QQuickWindow* m_window = nullptr;  // owned by the QML engine
};

/// Lets `window` show what is due: returns after `frames` frames or when nothing changes for a while.
void settle(QQuickWindow* window, int frames = 3);

}  // namespace colibri::app

#pragma once
// The services behind the pages, over the fake engine or the real one, for Qt Quick Tests.

#include "app/engine/engine_status.h"
#include "chat_view_model.h"
#include "fake_engine.h"
#include "models_view_model.h"

#include <QObject>
#include <QQmlEngine>
#include <QUrl>

namespace colibri::test {

/// Context property of the tests: `fake` or `real`. Its functions choose what the fake engine does next.
class PageHarness : public QObject {
  Q_OBJECT
  Q_PROPERTY(colibri::app::ChatViewModel* chat READ chat CONSTANT)
  Q_PROPERTY(colibri::app::ModelsViewModel* models READ models CONSTANT)
  Q_PROPERTY(QObject* status READ status CONSTANT)
  Q_PROPERTY(QString lastPrompt READ lastPrompt)
  Q_PROPERTY(QUrl demoFolder READ demoFolder CONSTANT)
  Q_PROPERTY(QUrl otherFolder READ otherFolder CONSTANT)

public:
  explicit PageHarness(bool isReal);

  app::ChatViewModel* chat() { return &m_chat; }
  app::ModelsViewModel* models() { return &m_models; }
  QObject* status() { return &m_status; }
  [[nodiscard]] QString lastPrompt() const;
  [[nodiscard]] QUrl demoFolder() const;
  /// A folder that is no model.
  [[nodiscard]] QUrl otherFolder() const;

  /// Back to the first start: no model, no messages, a friendly engine.
  Q_INVOKABLE void reset();
  Q_INVOKABLE void answerWith(const QStringList& pieces, int pauseMilliseconds = 0);
  /// The next answer hangs before its token `token` until it is stopped.
  Q_INVOKABLE void stallAt(int token);
  /// The next answer breaks off before its token `token`.
  Q_INVOKABLE void failAt(int token);
  Q_INVOKABLE void refuseToLoad(const QString& sentence);
  Q_INVOKABLE void hangWhileLoading();
  Q_INVOKABLE QString clipboardText() const;

private:
  std::shared_ptr<FakeScript> m_script = std::make_shared<FakeScript>();
  app::EngineThread m_thread;
  app::EngineStatus m_status;
  app::ModelService m_service;
  app::ChatViewModel m_chat;
  app::ModelsViewModel m_models;
};

}  // namespace colibri::test

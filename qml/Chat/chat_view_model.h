#pragma once
// What the chat page shows and does. It keeps no engine state of its own: everything comes in by signals.

#include "app/engine/engine_thread.h"
#include "app/library/model_service.h"
#include "conversation_model.h"

#include <QElapsedTimer>
#include <QQmlEngine>
#include <QStringList>
#include <QTimer>
#include <QUrl>

namespace colibri::app {

/// Lives on the GUI thread and never waits.
class ChatViewModel : public QObject {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("The program makes one chat.")

  Q_PROPERTY(colibri::app::ConversationModel* rows READ rows CONSTANT)
  Q_PROPERTY(QString title READ title NOTIFY conversationChanged)
  Q_PROPERTY(bool hasMessages READ hasMessages NOTIFY conversationChanged)
  Q_PROPERTY(Phase phase READ phase NOTIFY phaseChanged)
  Q_PROPERTY(bool busy READ isBusy NOTIFY phaseChanged)
  Q_PROPERTY(bool thinking READ thinking WRITE setThinking NOTIFY thinkingChanged)
  Q_PROPERTY(QStringList suggestions READ suggestions NOTIFY modelChanged)

  Q_PROPERTY(ModelState modelState READ modelState NOTIFY modelChanged)
  Q_PROPERTY(QString modelName READ modelName NOTIFY modelChanged)
  Q_PROPERTY(QString modelFailureTitle READ modelFailureTitle NOTIFY modelChanged)
  Q_PROPERTY(QString modelFailureText READ modelFailureText NOTIFY modelChanged)
  Q_PROPERTY(Action modelFailureAction READ modelFailureAction NOTIFY modelChanged)
  Q_PROPERTY(double loadedBytes READ loadedBytes NOTIFY loadProgressChanged)
  Q_PROPERTY(double totalBytes READ totalBytes NOTIFY loadProgressChanged)

  Q_PROPERTY(double promptDone READ promptDone NOTIFY progressChanged)
  Q_PROPERTY(double promptTotal READ promptTotal NOTIFY progressChanged)
  Q_PROPERTY(double promptSecondsLeft READ promptSecondsLeft NOTIFY progressChanged)
  Q_PROPERTY(double elapsedSeconds READ elapsedSeconds NOTIFY progressChanged)
  Q_PROPERTY(double answerTokens READ answerTokens NOTIFY progressChanged)
  Q_PROPERTY(double tokensPerSecond READ tokensPerSecond NOTIFY progressChanged)
  Q_PROPERTY(double firstTokenSeconds READ firstTokenSeconds NOTIFY progressChanged)
  Q_PROPERTY(bool inReasoning READ inReasoning NOTIFY progressChanged)
  Q_PROPERTY(double contextUsed READ contextUsed NOTIFY contextChanged)
  Q_PROPERTY(double contextTokens READ contextTokens NOTIFY contextChanged)

public:
  enum Phase { Idle, Reading, Answering, Stopping };
  Q_ENUM(Phase)
  enum ModelState { NoModel, LoadingModel, ModelReady, ModelFailed };
  Q_ENUM(ModelState)
  /// The same values as FailureAction.
  enum Action { NoAction, Retry, OpenFolder, NewChat };
  Q_ENUM(Action)

  /// Both outlive this object. `engine` may be nullptr for pictures.
  ChatViewModel(EngineThread* engine, ModelService* models, QObject* parent = nullptr);

  /// Sends a message; does nothing while busy, without a model or for a blank text. Returns whether it was sent.
  Q_INVOKABLE bool send(const QString& text);
  Q_INVOKABLE void stop();
  Q_INVOKABLE void newChat();
  /// Asks again for the answer that failed.
  Q_INVOKABLE void askAgain();
  Q_INVOKABLE void tryDemo();
  Q_INVOKABLE void retryModel();
  Q_INVOKABLE void cancelLoading();
  Q_INVOKABLE void copyText(const QString& text) const;
  /// The address as it would be opened, or an empty text when it may not be.
  Q_INVOKABLE QString addressToShow(const QString& link) const;
  Q_INVOKABLE void openAddress(const QString& address) const;

  /// How the next answers are made, besides `thinking`.
  void setAskOptions(const AskOptions& options) { m_options = options; }

  [[nodiscard]] ConversationModel* rows() { return &m_rows; }
  [[nodiscard]] QString title() const;
  [[nodiscard]] bool hasMessages() const { return !m_rows.messages().isEmpty(); }
  [[nodiscard]] Phase phase() const { return m_phase; }
  [[nodiscard]] bool isBusy() const { return m_phase != Idle; }
  [[nodiscard]] bool thinking() const { return m_options.thinking; }
  void setThinking(bool thinking);
  [[nodiscard]] QStringList suggestions() const;
  [[nodiscard]] ModelState modelState() const;
  [[nodiscard]] QString modelName() const { return m_models->name(); }
  [[nodiscard]] QString modelFailureTitle() const { return m_models->failure().title; }
  [[nodiscard]] QString modelFailureText() const { return m_models->failure().text; }
  [[nodiscard]] Action modelFailureAction() const { return static_cast<Action>(m_models->failure().action); }
  [[nodiscard]] double loadedBytes() const { return static_cast<double>(m_models->loadedBytes()); }
  [[nodiscard]] double totalBytes() const { return static_cast<double>(m_models->totalBytes()); }
  [[nodiscard]] double promptDone() const { return m_promptDone; }
  [[nodiscard]] double promptTotal() const { return m_promptTotal; }
  [[nodiscard]] double promptSecondsLeft() const { return m_promptSecondsLeft; }
  [[nodiscard]] double elapsedSeconds() const { return m_elapsedSeconds; }
  [[nodiscard]] double answerTokens() const { return static_cast<double>(m_answerTokens); }
  [[nodiscard]] double tokensPerSecond() const { return m_tokensPerSecond; }
  [[nodiscard]] double firstTokenSeconds() const { return m_firstTokenSeconds; }
  [[nodiscard]] bool inReasoning() const { return m_inReasoning; }
  [[nodiscard]] double contextUsed() const { return m_contextUsed; }
  [[nodiscard]] double contextTokens() const;
  /// The last finished answer's facts.
  [[nodiscard]] const Answer& lastAnswer() const { return m_lastAnswer; }
  /// Why the last answer failed; without a title when it did not.
  [[nodiscard]] const Failure& lastFailure() const { return m_lastFailure; }

  /// A fixed moment of an answer, for pictures.
  struct Scene {
    Phase phase = Idle;
    double promptDone = 0;
    double promptTotal = 0;
    double promptSecondsLeft = 0;
    double elapsedSeconds = 0;
    qint64 answerTokens = 0;
    double tokensPerSecond = 0;
    double firstTokenSeconds = 0;
    double contextUsed = 0;
  };
  void show(const Scene& scene);

signals:
  void conversationChanged();
  void phaseChanged();
  void thinkingChanged();
  void modelChanged();
  void loadProgressChanged();
  void progressChanged();
  void contextChanged();
  void answered();

private:
  void follow(EngineThread* engine);
  void ask();
  void takePiece(const AnswerPiece& piece);
  void takeAnswer(const Answer& answer);
  void endAnswer();
  void setPhase(Phase phase);
  void tick();
  [[nodiscard]] double secondsSinceAsk() const;

  EngineThread* m_engine;
  ModelService* m_models;
  ConversationModel m_rows;
  AskOptions m_options;
  CommandId m_command = 0;
  Phase m_phase = Idle;
  Answer m_lastAnswer;
  Failure m_lastFailure;
  QTimer m_flushTimer;     // single shot: the text of 33 ms is shown at once
  QTimer m_progressTimer;  // figures of the running answer
  QElapsedTimer m_sinceAsk;
  double m_promptDone = 0;
  double m_promptTotal = 0;
  double m_promptSecondsLeft = 0;
  double m_elapsedSeconds = 0;
  qint64 m_answerTokens = 0;
  double m_tokensPerSecond = 0;
  double m_firstTokenSeconds = 0;
  bool m_inReasoning = false;
  double m_contextUsed = 0;
};

}  // namespace colibri::app

#include "chat_view_model.h"

#include "app/chat/markdown.h"
#include "app/engine/failure.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QGuiApplication>

#include <limits>

namespace colibri::app {
namespace {

constexpr int kFlushMilliseconds = 33;
constexpr int kProgressMilliseconds = 250;
constexpr int kTitleCharacters = 60;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ChatViewModel::ChatViewModel(EngineThread* engine, ModelService* models, QObject* parent)
    : QObject(parent), m_engine(engine), m_models(models), m_rows(this) {
  m_flushTimer.setSingleShot(true);
  m_flushTimer.setInterval(kFlushMilliseconds);
  connect(&m_flushTimer, &QTimer::timeout, &m_rows, &ConversationModel::flush);
  m_progressTimer.setInterval(kProgressMilliseconds);
  connect(&m_progressTimer, &QTimer::timeout, this, &ChatViewModel::tick);
  connect(models, &ModelService::changed, this, [this] {
    emit modelChanged();
    emit contextChanged();
  });
  connect(models, &ModelService::progressChanged, this, &ChatViewModel::loadProgressChanged);
  if (engine) follow(engine);
}

void ChatViewModel::follow(EngineThread* engine) {
  connect(engine, &EngineThread::prefill, this, [this](quint64 id, const PrefillEvent& progress) {
    if (id != m_command) return;
    m_promptDone = static_cast<double>(progress.done);
    m_promptTotal = static_cast<double>(progress.total);
    m_promptSecondsLeft = progress.etaSeconds > 0 ? progress.etaSeconds : kUnknown;
  });
  connect(engine, &EngineThread::piece, this, [this](quint64 id, const AnswerPiece& piece) {
    if (id == m_command) takePiece(piece);
  });
  connect(engine, &EngineThread::done, this, [this](quint64 id, const Answer& answer) {
    if (id == m_command) takeAnswer(answer);
  });
  connect(engine, &EngineThread::askFailed, this, [this](quint64 id, const Failure& failure) {
    if (id != m_command) return;
    m_lastFailure = failure;
    m_rows.failAnswer(failure);
    endAnswer();
  });
}

bool ChatViewModel::send(const QString& text) {
  if (isBusy() || !m_engine || m_models->state() != ModelService::State::kReady || text.trimmed().isEmpty())
    return false;
  m_rows.addUserMessage(text.trimmed());
  emit conversationChanged();
  ask();
  return true;
}

void ChatViewModel::ask() {
  const std::vector<ChatMessage> messages = toChatMessages(m_rows.messages());
  m_rows.beginAnswer();
  m_lastFailure = Failure();
  m_promptDone = 0;
  m_promptTotal = 0;
  m_promptSecondsLeft = kUnknown;
  m_elapsedSeconds = 0;
  m_answerTokens = 0;
  m_tokensPerSecond = kUnknown;
  m_firstTokenSeconds = kUnknown;
  m_inReasoning = false;
  m_sinceAsk.start();
  m_progressTimer.start();
  m_command = m_engine->ask(messages, m_options);
  emit progressChanged();
  setPhase(Reading);
}

void ChatViewModel::stop() {
  if (m_phase != Reading && m_phase != Answering) return;
  m_engine->stop();
  setPhase(Stopping);
}

void ChatViewModel::newChat() {
  if (isBusy() && m_engine) m_engine->stop();
  // What the old answer still sends belongs to no chat any more.
  m_command = 0;
  m_rows.clear();
  m_contextUsed = 0;
  endAnswer();
  emit conversationChanged();
  emit contextChanged();
}

void ChatViewModel::askAgain() {
  if (isBusy() || !m_engine || m_models->state() != ModelService::State::kReady) return;
  m_rows.removeLastAnswer();
  if (m_rows.messages().isEmpty()) return;
  ask();
}

void ChatViewModel::tryDemo() {
  m_models->loadDemo();
}

void ChatViewModel::retryModel() {
  m_models->retry();
}

void ChatViewModel::cancelLoading() {
  m_models->cancel();
}

void ChatViewModel::takePiece(const AnswerPiece& piece) {
  const double seconds = secondsSinceAsk();
  if (m_answerTokens == 0) {
    m_firstTokenSeconds = seconds;
    if (m_phase == Reading) setPhase(Answering);
  }
  if (piece.isToken) ++m_answerTokens;
  m_inReasoning = piece.inReasoning;
  m_rows.append(piece, seconds - m_firstTokenSeconds);
  if (!m_flushTimer.isActive()) m_flushTimer.start();
}

void ChatViewModel::takeAnswer(const Answer& answer) {
  m_lastAnswer = answer;
  if (answer.finishReason == FinishReason::kError) {
    m_lastFailure = describeFailure(answer.error, Activity::kAnswering);
    m_rows.failAnswer(m_lastFailure);
  } else {
    m_rows.finishAnswer(answer);
  }
  if (answer.promptTokens > 0) m_contextUsed = static_cast<double>(answer.promptTokens + answer.completionTokens);
  emit contextChanged();
  endAnswer();
}

void ChatViewModel::endAnswer() {
  m_command = 0;
  m_flushTimer.stop();
  m_progressTimer.stop();
  const bool wasBusy = isBusy();
  setPhase(Idle);
  emit progressChanged();
  if (wasBusy) emit answered();
}

void ChatViewModel::setPhase(Phase phase) {
  if (m_phase == phase) return;
  m_phase = phase;
  emit phaseChanged();
}

void ChatViewModel::tick() {
  m_elapsedSeconds = secondsSinceAsk();
  const double decoding = m_elapsedSeconds - m_firstTokenSeconds;
  if (m_answerTokens > 1 && decoding > 0) m_tokensPerSecond = static_cast<double>(m_answerTokens - 1) / decoding;
  emit progressChanged();
}

double ChatViewModel::secondsSinceAsk() const {
  return static_cast<double>(m_sinceAsk.nsecsElapsed()) * 1e-9;
}

void ChatViewModel::setThinking(bool thinking) {
  if (m_options.thinking == thinking) return;
  m_options.thinking = thinking;
  emit thinkingChanged();
}

QString ChatViewModel::title() const {
  if (!hasMessages()) return tr("New chat");
  const QString first = m_rows.messages().first().text.simplified();
  return first.size() <= kTitleCharacters ? first : first.left(kTitleCharacters - 1) + u'…';
}

QStringList ChatViewModel::suggestions() const {
  if (m_models->state() != ModelService::State::kReady || !m_models->isDemo()) return {};
  return {tr("What can you do?"), tr("Why is it slow?"), tr("Show me some code.")};
}

ChatViewModel::ModelState ChatViewModel::modelState() const {
  switch (m_models->state()) {
    case ModelService::State::kLoading:
      return LoadingModel;
    case ModelService::State::kReady:
      return ModelReady;
    case ModelService::State::kFailed:
      return ModelFailed;
    case ModelService::State::kNone:
      break;
  }
  return NoModel;
}

double ChatViewModel::contextTokens() const {
  return m_models->state() == ModelService::State::kReady ? m_models->model().contextTokens : 0;
}

void ChatViewModel::copyText(const QString& text) const {
  QGuiApplication::clipboard()->setText(text);
}

QString ChatViewModel::addressToShow(const QString& link) const {
  return isOpenableAddress(link) ? QUrl(link).toString(QUrl::FullyEncoded) : QString();
}

void ChatViewModel::openAddress(const QString& address) const {
  if (isOpenableAddress(address)) QDesktopServices::openUrl(QUrl(address));
}

void ChatViewModel::show(const Scene& scene) {
  m_promptDone = scene.promptDone;
  m_promptTotal = scene.promptTotal;
  m_promptSecondsLeft = scene.promptSecondsLeft;
  m_elapsedSeconds = scene.elapsedSeconds;
  m_answerTokens = scene.answerTokens;
  m_tokensPerSecond = scene.tokensPerSecond;
  m_firstTokenSeconds = scene.firstTokenSeconds;
  m_contextUsed = scene.contextUsed;
  setPhase(scene.phase);
  emit conversationChanged();
  emit progressChanged();
  emit contextChanged();
}

}  // namespace colibri::app

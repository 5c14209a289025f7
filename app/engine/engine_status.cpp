#include "app/engine/engine_status.h"

#include <limits>

namespace colibri::app {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kRateWindowSeconds = 1.0;

}  // namespace

EngineStatus::EngineStatus(EngineThread* engine, QObject* parent)
    : QObject(parent), m_state(QStringLiteral("none")), m_stateText(tr("No model loaded")) {
  forgetFigures();
  if (engine) follow(engine);
}

void EngineStatus::follow(EngineThread* engine) {
  connect(engine, &EngineThread::loadStarted, this, [this](quint64, const QString& folder) {
    m_modelName = folder.section(QLatin1Char('/'), -1);
    forgetFigures();
    setState(QStringLiteral("loading"), tr("Loading"));
  });
  connect(engine, &EngineThread::loaded, this, [this](quint64, const LoadedModel& model) {
    m_modelName = QString::fromStdString(model.summary.name);
    setState(QStringLiteral("ready"), tr("Ready"));
  });
  connect(engine, &EngineThread::loadFailed, this, [this](quint64, const Failure& failure) {
    const bool cancelled = failure.code == Code::kCancelled;
    if (cancelled) m_modelName.clear();
    setState(cancelled ? QStringLiteral("none") : QStringLiteral("stopped"),
             cancelled ? tr("No model loaded") : tr("Could not be loaded"));
  });
  connect(engine, &EngineThread::unloaded, this, [this] {
    m_modelName.clear();
    forgetFigures();
    setState(QStringLiteral("none"), tr("No model loaded"));
  });
  connect(engine, &EngineThread::asked, this, [this] {
    m_answering = true;
    m_answerStartKnown = false;
    m_tokens = 0;
    m_tokensPerSecond = kUnknown;
    m_hitRate = kUnknown;
    setState(QStringLiteral("working"), tr("Reading the prompt"));
    emit figuresChanged();
  });
  connect(engine, &EngineThread::piece, this, [this](quint64, const AnswerPiece& piece) { countToken(piece); });
  connect(engine, &EngineThread::done, this, [this](quint64, const Answer& answer) {
    m_answering = false;
    if (answer.timings.decodeTokensPerSecond > 0) m_tokensPerSecond = answer.timings.decodeTokensPerSecond;
    if (answer.experts.requests > 0)
      m_hitRate = static_cast<double>(answer.experts.hits) / static_cast<double>(answer.experts.requests);
    setState(QStringLiteral("ready"), tr("Ready"));
    emit figuresChanged();
  });
  connect(engine, &EngineThread::askFailed, this, [this] {
    m_answering = false;
    setState(QStringLiteral("ready"), tr("Ready"));
  });
  connect(engine, &EngineThread::telemetry, this, &EngineStatus::takeSample);
}

void EngineStatus::show(const Figures& figures) {
  m_modelName = figures.modelName;
  m_hitRate = figures.hitRate;
  m_bytesPerSecond = figures.bytesPerSecond;
  m_ceiling = figures.ceilingBytesPerSecond;
  m_tokensPerSecond = figures.tokensPerSecond;
  m_memoryBytes = figures.memoryBytes;
  m_memoryBudgetBytes = figures.memoryBudgetBytes;
  setState(figures.state, figures.stateText);
  emit figuresChanged();
}

void EngineStatus::setModelName(const QString& name) {
  if (m_modelName == name || m_state == QLatin1String("none")) return;
  m_modelName = name;
  emit stateChanged();
}

void EngineStatus::setState(const QString& state, const QString& text) {
  m_state = state;
  m_stateText = text;
  emit stateChanged();
}

void EngineStatus::forgetFigures() {
  m_hitRate = kUnknown;
  m_bytesPerSecond = kUnknown;
  m_ceiling = kUnknown;
  m_tokensPerSecond = kUnknown;
  m_memoryBytes = -1;
  m_memoryBudgetBytes = -1;
  m_recent.clear();
  m_answering = false;
  emit figuresChanged();
}

void EngineStatus::countToken(const AnswerPiece& piece) {
  if (!piece.isToken) return;
  if (m_tokens == 0) {
    m_sinceFirstToken.start();
    setState(QStringLiteral("working"), tr("Answering"));
  }
  ++m_tokens;
  // Published with the next sample, so that the strip changes at most 20 times a second.
  const double seconds = static_cast<double>(m_sinceFirstToken.nsecsElapsed()) * 1e-9;
  if (m_tokens > 1 && seconds > 0) m_tokensPerSecond = static_cast<double>(m_tokens - 1) / seconds;
}

void EngineStatus::takeSample(const TelemetrySample& sample) {
  if (m_state == QLatin1String("none")) return;  // one that was on its way when the model was unloaded
  m_memoryBytes = static_cast<double>(sample.counters.memoryBytes);
  m_memoryBudgetBytes = static_cast<double>(sample.counters.memoryBudgetBytes);
  if (m_answering) {
    if (!m_answerStartKnown) m_answerStart = m_recent.empty() ? sample.counters : m_recent.back().counters;
    m_answerStartKnown = true;
    const auto requests = sample.counters.expertRequests - m_answerStart.expertRequests;
    const auto hits = sample.counters.expertHits - m_answerStart.expertHits;
    if (requests > 0) m_hitRate = static_cast<double>(hits) / static_cast<double>(requests);
  }
  m_recent.push_back(sample);
  while (m_recent.size() > 2 && sample.seconds - m_recent[1].seconds >= kRateWindowSeconds) m_recent.pop_front();
  const TelemetrySample& oldest = m_recent.front();
  if (sample.seconds > oldest.seconds)
    m_bytesPerSecond =
        static_cast<double>(sample.counters.bytesRead - oldest.counters.bytesRead) / (sample.seconds - oldest.seconds);
  emit figuresChanged();
}

}  // namespace colibri::app

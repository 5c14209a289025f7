#pragma once
// The live figures of the status strip: one object that the shell shows and every page may read.

#include "app/engine/engine_thread.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <deque>

namespace colibri::app {

/// Lives on the GUI thread. Unknown figures are NaN (rates, shares) or -1 (bytes), never 0.
class EngineStatus : public QObject {
  Q_OBJECT
  Q_PROPERTY(QString modelName READ modelName NOTIFY stateChanged)
  Q_PROPERTY(QString state READ state NOTIFY stateChanged)
  Q_PROPERTY(QString stateText READ stateText NOTIFY stateChanged)
  Q_PROPERTY(double hitRate READ hitRate NOTIFY figuresChanged)
  Q_PROPERTY(double bytesPerSecond READ bytesPerSecond NOTIFY figuresChanged)
  Q_PROPERTY(double ceilingBytesPerSecond READ ceilingBytesPerSecond NOTIFY figuresChanged)
  Q_PROPERTY(double tokensPerSecond READ tokensPerSecond NOTIFY figuresChanged)
  Q_PROPERTY(double memoryBytes READ memoryBytes NOTIFY figuresChanged)
  Q_PROPERTY(double memoryBudgetBytes READ memoryBudgetBytes NOTIFY figuresChanged)

public:
  /// `engine` may be nullptr (fixed figures for pictures); else it outlives this object.
  explicit EngineStatus(EngineThread* engine, QObject* parent = nullptr);

  [[nodiscard]] QString modelName() const { return m_modelName; }
  /// "none", "loading", "ready", "working" or "stopped".
  [[nodiscard]] QString state() const { return m_state; }
  [[nodiscard]] QString stateText() const { return m_stateText; }
  /// Share of expert requests served from memory in the last answer or the running one, 0 to 1.
  [[nodiscard]] double hitRate() const { return m_hitRate; }
  /// Expert bytes read in the last second.
  [[nodiscard]] double bytesPerSecond() const { return m_bytesPerSecond; }
  /// What this drive can deliver; NaN until it has been measured.
  [[nodiscard]] double ceilingBytesPerSecond() const { return m_ceiling; }
  /// Of the running answer since its first token, else of the last one.
  [[nodiscard]] double tokensPerSecond() const { return m_tokensPerSecond; }
  [[nodiscard]] double memoryBytes() const { return m_memoryBytes; }
  [[nodiscard]] double memoryBudgetBytes() const { return m_memoryBudgetBytes; }

  /// The name to show instead of the folder's.
  void setModelName(const QString& name);

  /// Fixed figures, for pictures without an engine.
  struct Figures {
    QString modelName;
    QString state;
    QString stateText;
    double hitRate = 0;
    double bytesPerSecond = 0;
    double ceilingBytesPerSecond = 0;
    double tokensPerSecond = 0;
    double memoryBytes = 0;
    double memoryBudgetBytes = 0;
  };
  void show(const Figures& figures);

signals:
  void stateChanged();
  void figuresChanged();

private:
  void follow(EngineThread* engine);
  void setState(const QString& state, const QString& text);
  void takeSample(const TelemetrySample& sample);
  void forgetFigures();
  void countToken(const AnswerPiece& piece);

  QString m_modelName;
  QString m_state;
  QString m_stateText;
  double m_hitRate;
  double m_bytesPerSecond;
  double m_ceiling;
  double m_tokensPerSecond;
  double m_memoryBytes = -1;
  double m_memoryBudgetBytes = -1;

  std::deque<TelemetrySample> m_recent;  // about the last second
  LiveCounters m_answerStart;
  bool m_answerStartKnown = false;
  bool m_answering = false;
  QElapsedTimer m_sinceFirstToken;
  qint64 m_tokens = 0;
};

}  // namespace colibri::app

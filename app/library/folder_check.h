#pragma once
// Looks into a folder that the user picked: is it a model, is it sound, can it run here. In a worker thread.

#include <colibri/checkpoint.h>

#include <QObject>
#include <QString>
#include <QThread>
#include <QVector>

#include <memory>

namespace colibri::app {

/// What was found in a folder, in words that need no further lookup.
struct FolderReport {
  QString folder;
  bool isModel = false;  ///< facts are filled in
  bool canLoad = false;  ///< no error, and this version supports it
  CheckpointInfo facts;
  QVector<Finding> findings;  ///< errors first
  int moreFindings = 0;       ///< beyond those kept
  QString problem;            ///< why there are no facts, or why it is not supported
};

/// Reads headers only (`coli verify --level headers`). Any thread; blocking; returns early when cancelled.
FolderReport inspectFolder(const QString& folder, const Cancellation& cancellation);

/// One check at a time on a thread of its own; a new one cancels the last. Lives on the GUI thread.
class FolderCheck : public QObject {
  Q_OBJECT

public:
  explicit FolderCheck(QObject* parent = nullptr);
  ~FolderCheck() override;

  void start(const QString& folder);
  void cancel();
  [[nodiscard]] bool isRunning() const { return m_running; }

signals:
  void finished(const colibri::app::FolderReport& report);

private:
  QThread m_thread;
  QObject* m_worker;  // deleted with its thread
  Cancellation m_cancellation;
  quint64 m_number = 0;
  bool m_running = false;
};

}  // namespace colibri::app

Q_DECLARE_METATYPE(colibri::app::FolderReport)

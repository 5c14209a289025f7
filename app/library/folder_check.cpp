#include "app/library/folder_check.h"

#include <algorithm>

namespace colibri::app {
namespace {

// A folder with every shard missing has thousands of findings; a page shows a few and says how many more there are.
constexpr int kKeptFindings = 50;

}  // namespace

FolderReport inspectFolder(const QString& folder, const Cancellation& cancellation) {
  FolderReport report;
  report.folder = folder;
  const std::filesystem::path path(folder.toStdString());
  VerifyOptions options;
  options.cancellation = cancellation;
  auto summary = verifyCheckpoint(path, options, [&report](const Finding& finding) {
    if (report.findings.size() < kKeptFindings)
      report.findings.append(finding);
    else
      ++report.moreFindings;
  });
  if (!summary.isOk()) {
    report.problem = QString::fromStdString(summary.status().message());
    return report;
  }
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
  auto facts = inspectCheckpoint(path);
  if (!facts.isOk()) {
    report.problem = QString::fromStdString(facts.status().message());
    return report;
  }
  report.isModel = true;
  report.facts = *facts;
  report.canLoad = summary->ok && facts->supported;
  if (!facts->supported) report.problem = QString::fromStdString(facts->unsupportedReason);
  return report;
}

FolderCheck::FolderCheck(QObject* parent) : QObject(parent), m_worker(new QObject) {
  m_thread.setObjectName(QStringLiteral("folder check"));
  m_worker->moveToThread(&m_thread);
  connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
}

FolderCheck::~FolderCheck() {
  m_cancellation.cancel();
  if (!m_thread.isRunning()) {
    delete m_worker;
    return;
  }
  m_thread.quit();
  m_thread.wait();
}

void FolderCheck::start(const QString& folder) {
  m_cancellation.cancel();
  m_cancellation = Cancellation();
  if (!m_thread.isRunning()) m_thread.start();
  m_running = true;
  const quint64 number = ++m_number;
  QMetaObject::invokeMethod(m_worker, [this, folder, number, cancellation = m_cancellation] {
    const FolderReport report = inspectFolder(folder, cancellation);
    // `this` outlives the thread: the destructor waits for it.
    QMetaObject::invokeMethod(this, [this, report, number] {
      if (number != m_number) return;
      m_running = false;
      emit finished(report);
    });
  });
}

void FolderCheck::cancel() {
  m_cancellation.cancel();
  ++m_number;
  m_running = false;
}

}  // namespace colibri::app

#include "message_log.h"

#include <QMutex>
#include <QMutexLocker>

#include <cstdio>

namespace colibri::app {
namespace {

struct Log {
  QMutex mutex;
  QStringList warnings;
};

// Qt's handler is a plain function without a context, so what it fills has to be reachable from a function.
Log& log() {
  static Log instance;
  return instance;
}

void take(QtMsgType type, const QMessageLogContext& context, const QString& message) {
  const QString line = qFormatLogMessage(type, context, message);
  std::fprintf(stderr, "%s\n", qUtf8Printable(line));
  if (type == QtDebugMsg || type == QtInfoMsg) return;
  const QMutexLocker lock(&log().mutex);
  log().warnings.append(message);
}

}  // namespace

void installMessageLog() {
  qInstallMessageHandler(take);
}

QStringList takeWarnings() {
  const QMutexLocker lock(&log().mutex);
  return std::exchange(log().warnings, {});
}

}  // namespace colibri::app

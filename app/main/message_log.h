#pragma once
// Collects what Qt and QML warn about. Everything still goes to stderr.

#include <QStringList>

namespace colibri::app {

/// Starts collecting, for the rest of the process.
void installMessageLog();

/// Warnings and worse since the last call. Any thread.
QStringList takeWarnings();

}  // namespace colibri::app

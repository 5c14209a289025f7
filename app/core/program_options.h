#pragma once
// The options of the program `colibri`.

#include <colibri/status.h>

#include <QSize>
#include <QString>
#include <QStringList>

#include <cstdint>

namespace colibri::app {

enum class ProgramMode { kWindow, kScreenshot, kAsk, kSelfTest, kFirstFrame, kVersion, kHelp };

struct ProgramOptions {
  ProgramMode mode = ProgramMode::kWindow;
  QString model;                ///< folder; empty: none
  QString page;                 ///< kScreenshot
  QString file;                 ///< kScreenshot, and kAsk when a picture is wanted
  QSize size{1280, 800};        ///< of the window, in logical pixels
  QString theme;                ///< "", "light" or "dark"
  double scale = 1;             ///< device pixels a logical pixel
  bool demo = false;            ///< fixed data
  QString question;             ///< kAsk
  std::int64_t maxTokens = -1;  ///< kAsk
  bool json = false;
};

/// Pages that exist, in the order of the rail.
QStringList pageNames();

/// Reads the arguments after the program's name. kUsage with a sentence for anything that does not exist or does not
/// fit together. Works before there is an application object.
Result<ProgramOptions> parseProgramOptions(const QStringList& arguments);

/// Text of --help.
QString programHelp();

/// Why no window can be shown with this environment, or an empty text. `platform` is QT_QPA_PLATFORM.
QString missingDisplay(const QString& platform, const QString& x11Display, const QString& waylandDisplay);

}  // namespace colibri::app

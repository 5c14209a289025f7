// The program `colibri`.

#include "message_log.h"
#include "modes.h"
#include "version.h"

#include <QDir>
#include <QGuiApplication>
#include <QIcon>
#include <QQuickStyle>
#include <QtQml/qqmlextensionplugin.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

Q_IMPORT_QML_PLUGIN(Colibri_UiPlugin)
Q_IMPORT_QML_PLUGIN(Colibri_ShellPlugin)
Q_IMPORT_QML_PLUGIN(Colibri_ChatPlugin)
Q_IMPORT_QML_PLUGIN(Colibri_ModelsPlugin)

namespace {

using namespace colibri;
using namespace colibri::app;

QStringList argumentsOf(int argc, char** argv) {
  QStringList arguments;
  for (int i = 1; i < argc; ++i) arguments.append(QString::fromLocal8Bit(argv[i]));
  return arguments;
}

bool needsNoDisplay(ProgramMode mode) {
  return mode == ProgramMode::kScreenshot || mode == ProgramMode::kAsk || mode == ProgramMode::kSelfTest;
}

/// Without a session (containers, cron) Qt would choose this folder too, and warn about it.
void provideRuntimeFolder() {
  if (!qEnvironmentVariableIsEmpty("XDG_RUNTIME_DIR")) return;
  const QByteArray folder = QDir::tempPath().toLocal8Bit() + "/colibri-runtime-" + QByteArray::number(getuid());
  if (mkdir(folder.constData(), S_IRWXU) == 0 || errno == EEXIST) qputenv("XDG_RUNTIME_DIR", folder);
}

/// Settings of Qt that have to be made before there is an application.
void prepareEnvironment(const ProgramOptions& options) {
  provideRuntimeFolder();
  if (needsNoDisplay(options.mode) && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qputenv("QT_QUICK_BACKEND", "software");
  }
  if (options.mode == ProgramMode::kScreenshot || options.mode == ProgramMode::kAsk)
    qputenv("QT_SCALE_FACTOR", QByteArray::number(options.scale));
  QGuiApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
}

int runMode(Program& program, const ProgramOptions& options, double secondsBefore) {
  switch (options.mode) {
    case ProgramMode::kScreenshot:
      return runScreenshot(program, options);
    case ProgramMode::kAsk:
      return runAsk(program, options);
    case ProgramMode::kSelfTest:
      return runSelfTest(program);
    case ProgramMode::kFirstFrame:
      return runFirstFrame(program, secondsBefore);
    default:
      return runWindow(program, options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Time before main() (the loader's) is CPU time, so this counts it too.
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  const double secondsBeforeMain = static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9;
  QElapsedTimer sinceMain;
  sinceMain.start();

  const auto parsed = parseProgramOptions(argumentsOf(argc, argv));
  if (!parsed.isOk()) return reportError(parsed.status(), false);
  const ProgramOptions& options = *parsed;
  if (options.mode == ProgramMode::kVersion) {
    std::puts("colibri " COLIBRI_VERSION);
    return 0;
  }
  if (options.mode == ProgramMode::kHelp) {
    std::fputs(qUtf8Printable(programHelp()), stdout);
    return 0;
  }
  prepareEnvironment(options);
  const QString problem = missingDisplay(qEnvironmentVariable("QT_QPA_PLATFORM"), qEnvironmentVariable("DISPLAY"),
                                         qEnvironmentVariable("WAYLAND_DISPLAY"));
  if (!problem.isEmpty()) {
    std::fprintf(stderr, "%s\n", qUtf8Printable(problem));
    return exitCode(Code::kUnavailable);
  }

  installMessageLog();
  // Qt reads options of its own from these; everything else has been parsed.
  int qtArgc = 1;
  QQuickStyle::setStyle(QStringLiteral("Basic"));
  QGuiApplication application(qtArgc, argv);
  QGuiApplication::setApplicationName(QStringLiteral("colibri"));
  QGuiApplication::setApplicationDisplayName(QStringLiteral("Colibri"));
  QGuiApplication::setApplicationVersion(QStringLiteral(COLIBRI_VERSION));
  QGuiApplication::setDesktopFileName(QStringLiteral("colibri"));
  QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/colibri/app/colibri.svg")));

  Program program(options);
  if (!program.createWindow())
    return reportError(Status(Code::kInternal, "window",
                              "The window could not be made; the lines above say why. Reinstalling Colibri and Qt "
                              "should help."),
                       options.json);
  return runMode(program, options, secondsBeforeMain + static_cast<double>(sinceMain.nsecsElapsed()) * 1e-9);
}

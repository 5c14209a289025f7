#include "modes.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QKeyEvent>
#include <QQuickItem>
#include <QTimer>

#include <cmath>
#include <cstdio>

namespace colibri::app {
namespace {

void print(const QJsonObject& object) {
  const QByteArray line = QJsonDocument(object).toJson(QJsonDocument::Compact);
  std::fwrite(line.constData(), 1, static_cast<std::size_t>(line.size()), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

QSize pixelsOf(const ProgramOptions& options) {
  return {static_cast<int>(std::lround(options.size.width() * options.scale)),
          static_cast<int>(std::lround(options.size.height() * options.scale))};
}

/// Loads the model that the options name, or the demo; waits for the end.
Status loadModel(Program& program, const ProgramOptions& options) {
  ModelService& models = program.models();
  QEventLoop loop;
  QObject::connect(&models, &ModelService::changed, &loop, [&] {
    if (models.state() != ModelService::State::kLoading) loop.quit();
  });
  if (options.model.isEmpty())
    models.loadDemo();
  else
    models.load(options.model);
  if (models.state() == ModelService::State::kLoading) loop.exec();
  if (models.state() == ModelService::State::kReady) return Status::ok();
  const Failure& failure = models.failure();
  return Status(failure.code, "load_failed", (failure.title + u' ' + failure.text).toStdString());
}

void typeAndSend(QQuickItem* input, const QString& text) {
  input->setProperty("text", text);
  QKeyEvent press(QEvent::KeyPress, Qt::Key_Return, Qt::NoModifier, QStringLiteral("\r"));
  QCoreApplication::sendEvent(input, &press);
  QKeyEvent release(QEvent::KeyRelease, Qt::Key_Return, Qt::NoModifier, QStringLiteral("\r"));
  QCoreApplication::sendEvent(input, &release);
}

}  // namespace

int reportError(const Status& status, bool json) {
  std::fprintf(stderr, "colibri: %s\n", status.message().c_str());
  if (json)
    print({{"error", QJsonObject{{"code", QString::fromStdString(status.id())},
                                 {"message", QString::fromStdString(status.message())}}}});
  return exitCode(status.code());
}

int runWindow(Program& program, const ProgramOptions& options) {
  program.window()->show();
  // After the first frame, so that the window is there at once.
  if (!options.model.isEmpty())
    QTimer::singleShot(0, program.window(), [&program, model = options.model] { program.models().load(model); });
  return QCoreApplication::exec();
}

int runScreenshot(Program& program, const ProgramOptions& options) {
  program.window()->show();
  if (options.demo) showDemoScene(program);
  program.showPage(options.page);
  if (!options.model.isEmpty()) {
    if (const Status loaded = loadModel(program, options); !loaded.isOk()) return reportError(loaded, false);
  }
  const Status saved = program.savePicture(options.file, pixelsOf(options));
  return saved.isOk() ? 0 : reportError(saved, false);
}

int runAsk(Program& program, const ProgramOptions& options) {
  program.window()->show();
  program.showPage(QStringLiteral("chat"));
  if (const Status loaded = loadModel(program, options); !loaded.isOk()) return reportError(loaded, options.json);
  settle(program.window());
  auto* input = program.window()->findChild<QQuickItem*>(QStringLiteral("composerInput"));
  if (!input) return reportError(Status(Code::kInternal, "no_composer", "The chat page has no input field."), true);
  AskOptions ask;
  ask.maxTokens = options.maxTokens;
  program.chat().setAskOptions(ask);
  QEventLoop loop;
  QObject::connect(&program.chat(), &ChatViewModel::answered, &loop, &QEventLoop::quit);
  typeAndSend(input, options.question);
  if (!program.chat().isBusy())
    return reportError(Status(Code::kInternal, "not_sent", "The chat page did not send the text."), true);
  loop.exec();
  if (const Failure failure = program.chat().lastFailure(); !failure.title.isEmpty())
    return reportError(Status(failure.code, "answer_failed", (failure.title + u' ' + failure.text).toStdString()),
                       true);
  QJsonObject done =
      QJsonDocument::fromJson(QByteArray::fromStdString(answerJson(program.chat().lastAnswer()))).object();
  done.insert("rendered", program.chat().rows()->shownText());
  if (!options.file.isEmpty()) {
    const Status saved = program.savePicture(options.file, pixelsOf(options));
    if (!saved.isOk()) return reportError(saved, options.json);
  }
  print(done);
  return 0;
}

int runFirstFrame(Program& program, double secondsBefore) {
  QElapsedTimer timer;
  timer.start();
  QEventLoop loop;
  double seconds = 0;
  QObject::connect(
      program.window(), &QQuickWindow::frameSwapped, &loop,
      [&] {
        if (seconds == 0) seconds = secondsBefore + static_cast<double>(timer.nsecsElapsed()) * 1e-9;
        loop.quit();
      },
      Qt::DirectConnection);
  program.window()->show();
  if (seconds == 0) loop.exec();
  print({{"event", "first_frame"}, {"seconds", seconds}});
  return 0;
}

}  // namespace colibri::app

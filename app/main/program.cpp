#include "program.h"

#include <colibri/demo_model.h>
#include <colibri/settings.h>

#include <QElapsedTimer>
#include <QEventLoop>
#include <QImage>
#include <QTimer>
#include <QVariant>

namespace colibri::app {
namespace {

constexpr int kSettleMilliseconds = 120;

/// What the environment and the configuration file say, as for `coli`. Only a window learns from its turns: pictures
/// and tests leave the user's files alone.
Result<EngineOptions> engineOptions(const std::filesystem::path& folder, bool learns) {
  SettingLayers layers;
  layers.environment = processEnvironment();
  layers.file = settingsFile(layers.environment);
  constexpr SettingScope kScopes[] = {SettingScope::kEngine};
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings, Settings::load(layers, kScopes));
  EngineOptions options = settings.engineOptions(folder);
  if (learns) options.dataFolder = dataFolder(layers.environment);
  return options;
}

Result<std::filesystem::path> demoModel() {
  return findDemoModel(processEnvironment());
}

/// A picture looks the same on every desktop; a window follows what the user chose.
QString startTheme(const ProgramOptions& options) {
  if (!options.theme.isEmpty() || options.mode == ProgramMode::kWindow) return options.theme;
  return QStringLiteral("light");
}

}  // namespace

Program::Program(const ProgramOptions& options)
    : m_options(options),
      m_engineThread([](const EngineOptions& engine, const std::function<void(const LoadProgress&)>& progress,
                        const Cancellation& cancellation) { return Engine::open(engine, progress, cancellation); }),
      m_status(&m_engineThread),
      m_models(&m_engineThread, demoModel,
               [learns = options.mode == ProgramMode::kWindow](const std::filesystem::path& folder) {
                 return engineOptions(folder, learns);
               }),
      m_chat(&m_engineThread, &m_models),
      m_modelsPage(&m_models) {
  QObject::connect(&m_models, &ModelService::changed, &m_status, [this] { m_status.setModelName(m_models.name()); });
}

bool Program::createWindow() {
  m_qml.setNetworkAccessManagerFactory(&m_network);
  m_qml.addImportPath(QStringLiteral("qrc:/qt/qml"));
  const QVariantMap properties{{QStringLiteral("chat"), QVariant::fromValue(&m_chat)},
                               {QStringLiteral("models"), QVariant::fromValue(&m_modelsPage)},
                               {QStringLiteral("status"), QVariant::fromValue<QObject*>(&m_status)},
                               {QStringLiteral("persistent"), m_options.mode == ProgramMode::kWindow},
                               {QStringLiteral("startTheme"), startTheme(m_options)},
                               {QStringLiteral("width"), m_options.size.width()},
                               {QStringLiteral("height"), m_options.size.height()}};
  m_qml.setInitialProperties(properties);
  m_qml.load(QUrl(QStringLiteral("qrc:/qt/qml/Colibri/App/Main.qml")));
  if (m_qml.rootObjects().isEmpty()) return false;
  m_window = qobject_cast<QQuickWindow*>(m_qml.rootObjects().first());
  return m_window != nullptr;
}

void Program::showPage(const QString& page) {
  m_window->setProperty("page", page);
}

Status Program::savePicture(const QString& file, const QSize& pixels) {
  settle(m_window);
  QImage image = m_window->grabWindow();
  // With a fractional factor the platform may round a side differently.
  if (image.size() != pixels) image = image.scaled(pixels, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
  if (image.isNull() || !image.save(file, "PNG"))
    return Status(Code::kIo, "picture_not_written",
                  "The picture " + file.toStdString() +
                      " could not be written. Check that its folder exists and has free space.");
  return Status::ok();
}

void settle(QQuickWindow* window, int frames) {
  QEventLoop loop;
  int left = frames;
  const auto connection = QObject::connect(window, &QQuickWindow::frameSwapped, &loop, [&] {
    if (--left <= 0) loop.quit();
    window->update();
  });
  // Delegates and positions follow the first layout, so time passes even when frames come at once.
  QTimer::singleShot(kSettleMilliseconds, &loop, [&] {
    QObject::disconnect(connection);
    left = 0;
    loop.quit();
  });
  window->update();
  while (left > 0) loop.exec();
  QEventLoop rest;
  QTimer::singleShot(kSettleMilliseconds, &rest, &QEventLoop::quit);
  rest.exec();
}

}  // namespace colibri::app

// Runs the Qt Quick Tests of the pages: test_pages -input FOLDER

#include "app/core/refusing_network.h"
#include "page_harness.h"

#include <QQmlContext>
#include <QQmlExtensionPlugin>
#include <QQuickStyle>
#include <QtQuickTest>

Q_IMPORT_QML_PLUGIN(Colibri_UiPlugin)
Q_IMPORT_QML_PLUGIN(Colibri_ChatPlugin)
Q_IMPORT_QML_PLUGIN(Colibri_ModelsPlugin)

namespace {

class Setup : public QObject {
  Q_OBJECT

public slots:
  void applicationAvailable() { QQuickStyle::setStyle(QStringLiteral("Basic")); }
  void qmlEngineAvailable(QQmlEngine* engine) {
    // Parented to the engine, so that no thread outlives the application.
    auto* fake = new colibri::test::PageHarness(false);
    auto* real = new colibri::test::PageHarness(true);
    fake->setParent(engine);
    real->setParent(engine);
    engine->addImportPath(QStringLiteral("qrc:/qt/qml"));
    engine->setNetworkAccessManagerFactory(&m_network);
    engine->rootContext()->setContextProperty(QStringLiteral("fake"), fake);
    engine->rootContext()->setContextProperty(QStringLiteral("real"), real);
  }

private:
  colibri::app::RefusingNetworkFactory m_network;
};

}  // namespace

int main(int argc, char** argv) {
  Setup setup;
  return quick_test_main_with_setup(argc, argv, "pages", nullptr, &setup);
}

#include "pages_test_main.moc"

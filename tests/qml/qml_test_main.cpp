// Runs the Qt Quick Tests of a folder: test_qml -input FOLDER
// Draws the gallery of controls:       test_qml --gallery FILE.qml OUT.png [light|dark|contrast] [text size]
#include "qml_test_setup.h"

#include <QGuiApplication>
#include <QQmlExtensionPlugin>
#include <QQuickItem>
#include <QQuickView>
#include <QTest>
#include <QtQuickTest>

#include <cstring>

Q_IMPORT_QML_PLUGIN(Colibri_UiPlugin)
Q_IMPORT_QML_PLUGIN(Colibri_ShellPlugin)

namespace {

int drawGallery(int argc, char** argv) {
  const QGuiApplication application(argc, argv);
  if (argc < 4) {
    return 2;
  }
  Setup setup;
  QQuickView view;
  setup.qmlEngineAvailable(view.engine());
  view.setInitialProperties({{QStringLiteral("theme"), argc > 4 ? QString::fromLatin1(argv[4]) : QString("light")},
                             {QStringLiteral("textScale"), argc > 5 ? QByteArray(argv[5]).toDouble() : 1.0}});
  view.setSource(QUrl::fromLocalFile(QString::fromLocal8Bit(argv[2])));
  if (view.status() != QQuickView::Ready) {
    return 1;
  }
  view.show();
  QTest::qWait(500);
  return view.grabWindow().save(QString::fromLocal8Bit(argv[3])) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--gallery") == 0) {
    return drawGallery(argc, argv);
  }
  Setup setup;
  return quick_test_main_with_setup(argc, argv, "qml", nullptr, &setup);
}

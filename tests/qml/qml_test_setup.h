#pragma once

#include <QFile>
#include <QGuiApplication>
#include <QLocale>
#include <QObject>
#include <QQmlContext>
#include <QQmlEngine>

/// What the Qt Quick Tests and the gallery need in an engine: our modules, the tokens, an English locale.
class Setup : public QObject {
  Q_OBJECT

public slots:
  void applicationAvailable() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

  void qmlEngineAvailable(QQmlEngine* engine) {
    engine->addImportPath(QStringLiteral("qrc:/qt/qml"));
    QFile tokens(QStringLiteral(COLIBRI_TOKENS));
    const QString text = tokens.open(QIODevice::ReadOnly) ? QString::fromUtf8(tokens.readAll()) : QString();
    engine->rootContext()->setContextProperty(QStringLiteral("tokensJson"), text);
  }
};

#pragma once

#include <QFile>
#include <QObject>
#include <QQmlContext>
#include <QQmlEngine>
#include <QTemporaryDir>

/// What the Qt Quick Tests and the gallery need in an engine: our modules, the tokens, a scratch folder.
class Setup : public QObject {
  Q_OBJECT

public slots:
  void qmlEngineAvailable(QQmlEngine* engine) {
    engine->addImportPath(QStringLiteral("qrc:/qt/qml"));
    QFile tokens(QStringLiteral(COLIBRI_TOKENS));
    const QString text = tokens.open(QIODevice::ReadOnly) ? QString::fromUtf8(tokens.readAll()) : QString();
    engine->rootContext()->setContextProperty(QStringLiteral("tokensJson"), text);
    engine->rootContext()->setContextProperty(QStringLiteral("scratchFolder"), m_scratch.path());
  }

private:
  QTemporaryDir m_scratch;
};

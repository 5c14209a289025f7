#pragma once
// Pages show text that a model wrote. Nothing in it may make the app contact anybody.

#include <QNetworkAccessManager>
#include <QQmlNetworkAccessManagerFactory>

namespace colibri::app {

/// Answers every request with an error before any connection is made.
class RefusingNetworkManager : public QNetworkAccessManager {
  Q_OBJECT

public:
  using QNetworkAccessManager::QNetworkAccessManager;

protected:
  QNetworkReply* createRequest(Operation operation, const QNetworkRequest& request, QIODevice* data) override;
};

/// Gives QML engines such managers. Called from any thread of the engine.
class RefusingNetworkFactory : public QQmlNetworkAccessManagerFactory {
public:
  QNetworkAccessManager* create(QObject* parent) override { return new RefusingNetworkManager(parent); }
};

}  // namespace colibri::app

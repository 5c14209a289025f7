#include "app/core/refusing_network.h"

#include <QNetworkReply>
#include <QNetworkRequest>
#include <QTimer>

namespace colibri::app {
namespace {

class RefusedReply : public QNetworkReply {
public:
  RefusedReply(QNetworkAccessManager::Operation operation, const QNetworkRequest& request, QObject* parent)
      : QNetworkReply(parent) {
    setOperation(operation);
    setRequest(request);
    setUrl(request.url());
    setError(ContentAccessDenied, QStringLiteral("Pages may not use the network."));
    open(ReadOnly);
    // After the caller has had time to connect.
    QTimer::singleShot(0, this, [this] {
      emit errorOccurred(ContentAccessDenied);
      setFinished(true);
      emit finished();
    });
  }

  void abort() override {}

protected:
  qint64 readData(char*, qint64) override { return -1; }
};

}  // namespace

QNetworkReply* RefusingNetworkManager::createRequest(Operation operation, const QNetworkRequest& request, QIODevice*) {
  return new RefusedReply(operation, request, this);
}

}  // namespace colibri::app

#include "app/engine/failure.h"

#include <QCoreApplication>

namespace colibri::app {
namespace {

QString words(const char* text) {
  return QCoreApplication::translate("Failure", text);
}

QString titleOf(Code code, Activity activity) {
  if (activity == Activity::kAnswering) {
    if (code == Code::kUsage) return words("The message does not fit.");
    if (code == Code::kIo) return words("Reading from the drive failed.");
    if (code == Code::kMemory) return words("There is not enough memory for this answer.");
    return words("The answer could not be finished.");
  }
  if (activity == Activity::kChecking) return words("The folder could not be checked.");
  if (code == Code::kMemory) return words("The model does not fit into the free memory.");
  if (code == Code::kIo) return words("Reading the model from the drive failed.");
  return words("The model could not be loaded.");
}

FailureAction actionOf(Code code, Activity activity) {
  if (activity == Activity::kAnswering) return code == Code::kUsage ? FailureAction::kNewChat : FailureAction::kRetry;
  if (code == Code::kIo || code == Code::kMemory || code == Code::kCancelled) return FailureAction::kRetry;
  return FailureAction::kOpenFolder;
}

}  // namespace

Failure describeFailure(const Status& status, Activity activity) {
  Failure failure;
  failure.title = titleOf(status.code(), activity);
  failure.text = QString::fromStdString(status.message());
  failure.detail = QString::fromStdString(status.detail());
  failure.code = status.code();
  failure.action = actionOf(status.code(), activity);
  return failure;
}

}  // namespace colibri::app

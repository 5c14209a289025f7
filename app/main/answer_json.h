#pragma once
// The `done` event of `coli run --json` as the app prints it.

#include <colibri/event.h>

#include <QJsonObject>

namespace colibri::app {

/// Without "event" and "rendered", which the caller adds.
QJsonObject answerToJson(const Answer& answer);

}  // namespace colibri::app

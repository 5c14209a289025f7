#pragma once
// Turns a Status of the engine into the words and the button of a banner.

#include "app/engine/engine_messages.h"

namespace colibri::app {

/// What was being done when it failed.
enum class Activity { kLoading, kAnswering, kChecking };

/// The words for `status`, which must be an error. Any thread.
Failure describeFailure(const Status& status, Activity activity);

}  // namespace colibri::app

#pragma once
// A finished answer as JSON: the `done` event of `coli run --json`, which the app prints too.

#include "base/json.h"
#include <colibri/event.h>

namespace colibri {

[[nodiscard]] OrderedJson doneEventJson(const Answer& answer);

}  // namespace colibri

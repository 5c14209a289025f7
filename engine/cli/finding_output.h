#pragma once
// Findings as `coli verify` and `coli mirror verify` print them.

#include "base/json_fwd.h"
#include <colibri/checkpoint.h>

#include <iosfwd>

namespace colibri {

/// {"finding":{…}}
[[nodiscard]] OrderedJson findingJson(const Finding& finding);
/// One line for people.
void printFinding(std::ostream& out, const Finding& finding);

}  // namespace colibri

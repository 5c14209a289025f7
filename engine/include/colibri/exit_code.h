#pragma once
// What a program ends with: one table for `coli` and the app (docs/cli.md).

#include <colibri/status.h>

namespace colibri {

/// Exit code of an outcome.
[[nodiscard]] inline int exitCode(Code code) {
  switch (code) {
    case Code::kOk:
      return 0;
    case Code::kFindings:
      return 1;
    case Code::kUsage:
    case Code::kUnavailable:
      return 2;
    case Code::kCheckpoint:
      return 3;
    case Code::kMemory:
      return 4;
    case Code::kIo:
      return 5;
    case Code::kNetwork:
      return 6;
    case Code::kCancelled:
      return 130;
    case Code::kInternal:
      break;
  }
  return 70;
}

}  // namespace colibri

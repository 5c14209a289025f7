#include "telemetry/time_split.h"

namespace colibri {

const char* timeCauseName(TimeCause cause) {
  switch (cause) {
    case TimeCause::kDiskWait:
      return "disk wait";
    case TimeCause::kExperts:
      return "experts";
    case TimeCause::kDense:
      return "dense";
    case TimeCause::kAttention:
      return "attention";
    case TimeCause::kOther:
    case TimeCause::kCount:
      break;
  }
  return "other";
}

}  // namespace colibri

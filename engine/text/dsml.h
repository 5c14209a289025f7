#pragma once
// The markup of tool calls.

#include "text/chat_message.h"
#include "text/segment_writer.h"
#include <colibri/chat.h>

#include <string_view>

namespace colibri {

inline constexpr std::string_view kDsmlMark = "｜DSML｜";

/// Names of the tags, as they stand behind the mark.
struct DsmlNames {
  std::string_view block;
  std::string_view call;
  std::string_view parameter;
};
inline constexpr DsmlNames kDsmlNamesV4{"tool_calls", "invoke", "parameter"};
inline constexpr DsmlNames kDsmlNamesV41{" calls", " invoke", " parameter"};

[[nodiscard]] constexpr const DsmlNames& dsmlNames(Dialect dialect) {
  return dialect == Dialect::kC ? kDsmlNamesV41 : kDsmlNamesV4;
}

/// Writes the block of an assistant turn's calls (without the empty line before it): tags as control text; names, keys
/// and values as literal text.
void writeCalls(const std::vector<HistoricCall>& calls, Dialect dialect, SegmentWriter& writer);

}  // namespace colibri

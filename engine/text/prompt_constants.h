#pragma once
// The fixed texts of the prompt format. They are part of the format: not one byte may differ (a test holds their
// hashes).

#include <string_view>

namespace colibri::prompt {

inline constexpr std::string_view kBegin = "<｜begin▁of▁sentence｜>";
inline constexpr std::string_view kEnd = "<｜end▁of▁sentence｜>";
inline constexpr std::string_view kUser = "<｜User｜>";
inline constexpr std::string_view kAssistant = "<｜Assistant｜>";
inline constexpr std::string_view kSystem = "<｜System｜>";  ///< V4.1 only
inline constexpr std::string_view kThinkOpen = "<think>";
inline constexpr std::string_view kThinkClose = "</think>";
inline constexpr std::string_view kReminder = "<｜latest_reminder｜>";
inline constexpr std::string_view kImage = "<｜deepseek_image｜>";  ///< V4.1 only
inline constexpr std::string_view kToolResultOpen = "<tool_result>";
inline constexpr std::string_view kToolResultClose = "</tool_result>";

/// Slot in the tools blocks: one line of JSON a tool.
inline constexpr std::string_view kToolsSlot = "{tool_schemas}";
extern const std::string_view kToolsBlockV4;
extern const std::string_view kToolsBlockV41;

/// Slot in the response format text: the JSON of the format.
inline constexpr std::string_view kFormatSlot = "{schema}";
extern const std::string_view kResponseFormat;

/// V4: "max" of the first release and "high" of 0731.
extern const std::string_view kEffortMaximum;
/// V4 0731: "max".
extern const std::string_view kEffortBeyondMaximum;
/// V4.1, with a number in the slot.
inline constexpr std::string_view kEffortSlot = "{budget}";
extern const std::string_view kEffortNumber;

}  // namespace colibri::prompt

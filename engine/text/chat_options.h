#pragma once
// Thinking mode and effort: from what a request says to the text at the start of the prompt.

#include "text/chat_json.h"
#include "text/chat_message.h"
#include <colibri/chat.h>

#include <string>
#include <string_view>

namespace colibri {

/// The text at the start of a thinking prompt for `effort` ("" is the dialect's default). kUsage "invalid_effort".
Result<std::string> effortText(std::string_view effort, Dialect dialect);

/// Reads the mode, the effort and the flags of a request into `made`. `api`: all the spellings that clients use, and
/// levels mapped to those of the dialect; else the encoder's own.
Status readOptions(const ChatJson& request, bool api, Dialect dialect, EncoderRequest& made);

/// A client's level as one of the dialect's: "minimal" is low, "xhigh" is high, … Unknown words are returned as they
/// are.
[[nodiscard]] std::string effortLevel(std::string_view clientLevel, Dialect dialect);

}  // namespace colibri

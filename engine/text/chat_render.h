#pragma once
// The encoders: messages to prompt text.

#include "text/chat_message.h"
#include <colibri/chat.h>

namespace colibri {

/// Writes the prompt of `request`. kUsage for what the dialect cannot express.
Result<Prompt> writePrompt(EncoderRequest request, Dialect dialect);

}  // namespace colibri

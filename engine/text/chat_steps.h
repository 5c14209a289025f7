#pragma once
// What happens to a list of messages before it is written.

#include "text/chat_message.h"

#include <vector>

namespace colibri {

/// Whether the model answers to this message as it does to a user's: user; V4 also developer; V4.1 also a later system
/// message.
[[nodiscard]] bool countsAsUser(const EncoderMessage& message, std::size_t index, Dialect dialect);
/// Index of the last such message, -1 for none.
[[nodiscard]] std::ptrdiff_t lastUserIndex(const std::vector<EncoderMessage>& messages, Dialect dialect);

/// Tool results become blocks of user messages; neighbouring user messages become one.
[[nodiscard]] std::vector<EncoderMessage> mergeUserMessages(std::vector<EncoderMessage> messages);
/// Puts the tool results of a message into the order of the calls that they answer. Works on merged messages.
void orderToolResults(std::vector<EncoderMessage>& messages);
/// Removes the reasoning of turns before the last user message, and what else is not kept there. Works on merged
/// messages.
[[nodiscard]] std::vector<EncoderMessage> dropOldReasoning(std::vector<EncoderMessage> messages, Dialect dialect);

}  // namespace colibri

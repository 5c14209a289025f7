#include "text/chat_normalise.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace colibri {
namespace {

template <typename T>
void moveInto(std::vector<T>& target, std::vector<T>& source) {
  std::move(source.begin(), source.end(), std::back_inserter(target));
}

// Contents with nothing in between.
void joinAssistant(EncoderMessage& turn, EncoderMessage& next) {
  turn.reasoning += next.reasoning;
  if (turn.blocks.empty()) turn.blocks.emplace_back();
  for (ContentBlock& block : next.blocks) moveInto(turn.blocks.back().segments, block.segments);
  moveInto(turn.calls, next.calls);
  if (!next.task.empty()) turn.task = next.task;
}

}  // namespace

EncoderMessage& systemMessage(std::vector<EncoderMessage>& messages) {
  const auto found = std::find_if(messages.begin(), messages.end(),
                                  [](const EncoderMessage& message) { return message.role == ChatRole::kSystem; });
  if (found != messages.end()) return *found;
  EncoderMessage fresh;
  fresh.role = ChatRole::kSystem;
  return *messages.insert(messages.begin(), std::move(fresh));
}

Status normaliseMessages(EncoderRequest& request, Dialect dialect) {
  if (request.messages.empty()) return {Code::kUsage, "no_messages", "There are no messages."};
  std::vector<EncoderMessage> out;
  bool leading = true;
  bool asked = false;
  for (EncoderMessage& message : request.messages) {
    const bool system = message.role == ChatRole::kSystem;
    if (system && leading && !out.empty()) {
      // Blocks are joined by an empty line, as the messages are.
      moveInto(out.front().blocks, message.blocks);
      moveInto(out.front().tools, message.tools);
      if (!message.responseFormat.isNull()) out.front().responseFormat = std::move(message.responseFormat);
      continue;
    }
    leading = leading && system;
    if (system && !leading) {
      if (dialect != Dialect::kC) message.role = ChatRole::kUser;
      asked = true;
    }
    asked = asked || message.role == ChatRole::kUser || message.role == ChatRole::kTool;
    const bool again = message.role == ChatRole::kAssistant && !out.empty() && out.back().role == ChatRole::kAssistant;
    if (again) {
      joinAssistant(out.back(), message);
    } else {
      out.push_back(std::move(message));
    }
  }
  if (!asked) {
    return {Code::kUsage, "no_user_message", "There is no user message, so there is nothing for the model to answer."};
  }
  EncoderMessage& last = out.back();
  if (last.role == ChatRole::kAssistant && last.task.empty()) {
    // Continued where it stopped. A turn with nothing in it is the same as the header alone.
    last.withoutEnd = true;
    if (!last.hasContent() && last.reasoning.empty() && last.calls.empty()) out.pop_back();
  }
  request.messages = std::move(out);
  return Status::ok();
}

}  // namespace colibri

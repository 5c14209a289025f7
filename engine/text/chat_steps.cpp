#include "text/chat_steps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace colibri {

bool countsAsUser(const EncoderMessage& message, std::size_t index, Dialect dialect) {
  if (message.role == ChatRole::kUser) return true;
  if (dialect == Dialect::kC) return message.role == ChatRole::kSystem && index > 0;
  return message.role == ChatRole::kDeveloper;
}

std::ptrdiff_t lastUserIndex(const std::vector<EncoderMessage>& messages, Dialect dialect) {
  for (std::size_t i = messages.size(); i > 0; --i) {
    if (countsAsUser(messages[i - 1], i - 1, dialect)) return static_cast<std::ptrdiff_t>(i) - 1;
  }
  return -1;
}

std::vector<EncoderMessage> mergeUserMessages(std::vector<EncoderMessage> messages) {
  std::vector<EncoderMessage> merged;
  for (EncoderMessage& message : messages) {
    const bool tool = message.role == ChatRole::kTool;
    if (!tool && message.role != ChatRole::kUser) {
      merged.push_back(std::move(message));
      continue;
    }
    // A tool result joins even a message with a task; text does not.
    const bool joins = !merged.empty() && merged.back().role == ChatRole::kUser && (tool || merged.back().task.empty());
    if (!joins) {
      EncoderMessage fresh;
      fresh.role = ChatRole::kUser;
      if (!tool) {
        fresh.task = message.task;
        fresh.withoutEnd = message.withoutEnd;
      }
      merged.push_back(std::move(fresh));
    }
    auto& blocks = merged.back().blocks;
    std::move(message.blocks.begin(), message.blocks.end(), std::back_inserter(blocks));
  }
  return merged;
}

void orderToolResults(std::vector<EncoderMessage>& messages) {
  std::map<std::string, std::size_t> order;
  for (EncoderMessage& message : messages) {
    if (message.role == ChatRole::kAssistant && !message.calls.empty()) {
      order.clear();
      for (std::size_t i = 0; i < message.calls.size(); ++i) {
        if (!message.calls[i].id.empty()) order[message.calls[i].id] = i;
      }
    }
    if (message.role != ChatRole::kUser || order.empty()) continue;
    std::vector<ContentBlock> results;
    for (ContentBlock& block : message.blocks) {
      if (block.toolResult) results.push_back(std::move(block));
    }
    const auto position = [&](const ContentBlock& block) {
      const auto found = order.find(block.callId);
      return found == order.end() ? 0 : found->second;
    };
    std::stable_sort(results.begin(), results.end(),
                     [&](const ContentBlock& a, const ContentBlock& b) { return position(a) < position(b); });
    // Text keeps its place between them. A moved-from block still says whether it was a result.
    auto next = results.begin();
    for (ContentBlock& block : message.blocks) {
      if (block.toolResult) block = std::move(*next++);
    }
  }
}

std::vector<EncoderMessage> dropOldReasoning(std::vector<EncoderMessage> messages, Dialect dialect) {
  const std::ptrdiff_t lastUser = lastUserIndex(messages, dialect);
  std::vector<EncoderMessage> kept;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EncoderMessage& message = messages[i];
    if (static_cast<std::ptrdiff_t>(i) < lastUser) {
      if (message.role == ChatRole::kDeveloper) continue;
      message.reasoning.clear();
    }
    kept.push_back(std::move(message));
  }
  return kept;
}

}  // namespace colibri

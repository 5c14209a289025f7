#pragma once
// The messages of a conversation as the encoders see them.

#include "text/chat_json.h"
#include <colibri/chat.h>
#include <colibri/tokenizer.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

enum class ChatRole { kSystem, kUser, kAssistant, kTool, kReminder, kDeveloper };

/// A stretch of a message's content. Stretches are joined by an empty line.
struct ContentBlock {
  bool toolResult = false;
  std::string callId;                 ///< of a tool result
  std::vector<TextSegment> segments;  ///< text, or the value of a tool result
  std::vector<std::string> images;    ///< records of the placeholders in it
};

/// A call in an assistant turn. `arguments` is what the client sent: an object, or a string with JSON in it.
struct HistoricCall {
  std::string id;
  std::string name;
  ChatJson arguments;
};

struct EncoderMessage {
  ChatRole role = ChatRole::kUser;
  std::vector<ContentBlock> blocks;
  std::string reasoning;
  std::vector<HistoricCall> calls;
  std::string toolCallId;
  std::vector<ChatJson> tools;  ///< the function objects
  ChatJson responseFormat;      ///< null when there is none
  std::string task;
  bool withoutEnd = false;

  /// Whether any content would be written.
  [[nodiscard]] bool hasContent() const;
};

/// What an encoder is asked to do.
struct EncoderRequest {
  std::vector<EncoderMessage> messages;
  bool thinking = true;
  bool dropThinking = true;
  bool addBegin = true;
  bool addGenerationPrompt = true;
  std::string effort;  ///< "" is the dialect's default
};

/// How strictly messages are read.
struct MessageRules {
  Dialect dialect = Dialect::kA;
  /// A server's reading: unknown blocks, names that cannot be written and misplaced images are refused; the spellings
  /// of other clients for reasoning are understood.
  bool api = false;
};

/// "messages[3]: …" as kUsage "invalid_message".
[[nodiscard]] Status messageError(std::size_t index, const std::string& why);

/// Reads one message. `index` is its place, for errors.
Result<EncoderMessage> readMessage(const ChatJson& message, std::size_t index, const MessageRules& rules);

/// Reads a list of tools into function objects. Errors are kUsage and name the tool.
Result<std::vector<ChatJson>> readTools(const ChatJson& tools, bool api);

/// The response format to be shown to the model; null for none.
[[nodiscard]] ChatJson readResponseFormat(const ChatJson& format, bool api);

/// A block of plain text.
[[nodiscard]] ContentBlock textBlock(std::string_view text);

}  // namespace colibri

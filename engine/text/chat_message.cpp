#include "text/chat_message.h"

#include "text/prompt_constants.h"
#include "text/segment_writer.h"

#include <array>

namespace colibri {
namespace {

constexpr std::string_view kBlockSeparator = "\n\n";

// Reads the content of one message.
class ContentReader {
public:
  ContentReader(std::size_t index, ChatRole role, const MessageRules& rules)
      : m_index(index), m_role(role), m_rules(rules) {}

  Result<std::vector<ContentBlock>> read(const ChatJson& content) const {
    std::vector<ContentBlock> blocks;
    if (content.isNull()) return blocks;
    if (content.isString()) {
      blocks.push_back(textBlock(content.text()));
      return blocks;
    }
    if (!content.isArray()) return messageError(m_index, "its content must be a string, null or a list of blocks.");
    for (const ChatJson& block : content.items()) {
      COLIBRI_RETURN_IF_ERROR(readBlock(block, blocks));
    }
    return blocks;
  }

private:
  [[nodiscard]] bool api() const { return m_rules.api; }

  static bool isImage(const std::string& type, bool api) {
    return type == "image" || type == "image_url" || (api && type == "input_image");
  }
  static bool isText(const std::string& type, bool api) {
    return type == "text" || (api && (type == "input_text" || type == "output_text"));
  }

  Status readBlock(const ChatJson& block, std::vector<ContentBlock>& blocks) const {
    const ChatJson& type = block["type"];
    if (!type.isString()) return messageError(m_index, "a content block has no type.");
    if (isText(type.text(), api())) {
      const ChatJson& text = block["text"];
      if (!text.isString() && !text.isNull()) return messageError(m_index, "a text block's text is not a string.");
      blocks.push_back(textBlock(text.text()));
      return Status::ok();
    }
    if (type.text() == "tool_result") {
      ContentBlock result;
      result.toolResult = true;
      for (const char* name : {"tool_use_id", "tool_call_id", "id"}) {
        if (result.callId.empty()) result.callId = block[name].text();
      }
      COLIBRI_ASSIGN_OR_RETURN(const auto parts, read(block["content"]));
      joinInto(parts, result);
      blocks.push_back(std::move(result));
      return Status::ok();
    }
    if (isImage(type.text(), api()) && (m_rules.dialect == Dialect::kC || api())) return readImage(block, blocks);
    if (api()) return messageError(m_index, "content blocks of type \"" + type.text() + "\" are not supported.");
    blocks.push_back(textBlock("[Unsupported " + type.text() + "]"));
    return Status::ok();
  }

  Status readImage(const ChatJson& block, std::vector<ContentBlock>& blocks) const {
    if (m_rules.dialect != Dialect::kC) {
      return messageError(m_index, "this model cannot see images; send text only, or load a V4.1 model.");
    }
    if (api() && m_role == ChatRole::kSystem) return messageError(m_index, "a system message cannot hold images.");
    ContentBlock image;
    image.segments.push_back({true, std::string(prompt::kImage)});
    image.images.push_back(block.dump());
    blocks.push_back(std::move(image));
    return Status::ok();
  }

  static void joinInto(const std::vector<ContentBlock>& parts, ContentBlock& whole) {
    SegmentWriter writer;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) writer.literal(kBlockSeparator);
      writer.append(parts[i].segments);
      whole.images.insert(whole.images.end(), parts[i].images.begin(), parts[i].images.end());
    }
    whole.segments = writer.take();
  }

public:
  /// All blocks of a tool message as one tool result.
  static ContentBlock toolResult(const std::vector<ContentBlock>& parts, std::string callId) {
    ContentBlock result;
    result.toolResult = true;
    result.callId = std::move(callId);
    joinInto(parts, result);
    return result;
  }

private:
  std::size_t m_index;
  ChatRole m_role;
  const MessageRules& m_rules;
};

Result<ChatRole> readRole(const ChatJson& message, std::size_t index, const MessageRules& rules) {
  struct Named {
    std::string_view name;
    ChatRole role;
  };
  static constexpr std::array<Named, 6> kRoles{{{"system", ChatRole::kSystem},
                                                {"user", ChatRole::kUser},
                                                {"assistant", ChatRole::kAssistant},
                                                {"tool", ChatRole::kTool},
                                                {"latest_reminder", ChatRole::kReminder},
                                                {"developer", ChatRole::kDeveloper}}};
  if (!message.isObject()) return messageError(index, "it is not an object.");
  const ChatJson& name = message["role"];
  for (const Named& named : kRoles) {
    if (!name.isString() || named.name != name.text()) continue;
    if (named.role != ChatRole::kDeveloper) return named.role;
    if (rules.api) return ChatRole::kSystem;
    if (rules.dialect != Dialect::kC) return named.role;
  }
  return messageError(index, "the role \"" + name.text() + "\" is not known here.");
}

Status readCalls(const ChatJson& calls, std::size_t index, const MessageRules& rules, EncoderMessage& message) {
  if (calls.isNull()) return Status::ok();
  if (!calls.isArray()) return messageError(index, "tool_calls must be a list.");
  for (const ChatJson& call : calls.items()) {
    const ChatJson& function = call["function"].isNull() ? call : call["function"];
    if (!function["name"].isString()) return messageError(index, "a tool call has no function name.");
    HistoricCall made{call["id"].text(), function["name"].text(), function["arguments"]};
    // Clients send "" for a call without arguments.
    const bool none = made.arguments.isNull() || (rules.api && made.arguments.isString() && made.arguments.isEmpty());
    if (none) made.arguments = ChatJson::object();
    message.calls.push_back(std::move(made));
  }
  return Status::ok();
}

// Anthropic's content of an assistant turn: thinking and tool_use stand among the blocks. Returns the other blocks.
ChatJson takeTurnBlocks(const ChatJson& content, EncoderMessage& message) {
  if (!content.isArray()) return content;
  ChatJson rest = ChatJson::array();
  for (const ChatJson& block : content.items()) {
    const std::string& type = block["type"].text();
    if (type == "thinking") {
      message.reasoning += block["thinking"].text();
    } else if (type == "tool_use" && block["name"].isString()) {
      message.calls.push_back(
          {block["id"].text(), block["name"].text(), block["input"].isObject() ? block["input"] : ChatJson::object()});
    } else {
      rest.append(block);
    }
  }
  return rest;
}

// "<think>…</think>" at the start of the content, where no field carries the reasoning.
ChatJson takeInlineReasoning(const ChatJson& content, EncoderMessage& message) {
  if (!content.isString() || !message.reasoning.empty()) return content;
  const std::string& text = content.text();
  const std::size_t close = text.find(prompt::kThinkClose);
  if (!text.starts_with(prompt::kThinkOpen) || close == std::string::npos) return content;
  message.reasoning = text.substr(prompt::kThinkOpen.size(), close - prompt::kThinkOpen.size());
  return ChatJson::string(text.substr(close + prompt::kThinkClose.size()));
}

}  // namespace

bool EncoderMessage::hasContent() const {
  for (const ContentBlock& block : blocks) {
    if (block.toolResult || !block.segments.empty()) return true;
  }
  return false;
}

Status messageError(std::size_t index, const std::string& why) {
  return {Code::kUsage, "invalid_message", "messages[" + std::to_string(index) + "]: " + why};
}

ContentBlock textBlock(std::string_view text) {
  ContentBlock block;
  if (!text.empty()) block.segments.push_back({false, std::string(text)});
  return block;
}

Result<EncoderMessage> readMessage(const ChatJson& message, std::size_t index, const MessageRules& rules) {
  EncoderMessage made;
  COLIBRI_ASSIGN_OR_RETURN(made.role, readRole(message, index, rules));
  ChatJson content = message["content"];
  if (made.role == ChatRole::kAssistant) {
    made.reasoning = message["reasoning_content"].text();
    if (rules.api) {
      if (made.reasoning.empty()) made.reasoning = message["reasoning"].text();
      content = takeInlineReasoning(takeTurnBlocks(content, made), made);
    }
    COLIBRI_RETURN_IF_ERROR(readCalls(message["tool_calls"], index, rules, made));
  }
  COLIBRI_ASSIGN_OR_RETURN(made.blocks, ContentReader(index, made.role, rules).read(content));
  // Nothing is a text too: it counts as a block beside others.
  if (made.role == ChatRole::kUser && content.isNull()) made.blocks.push_back(textBlock(""));
  made.toolCallId = message["tool_call_id"].text();
  if (made.role == ChatRole::kTool) {
    ContentBlock result = ContentReader::toolResult(made.blocks, made.toolCallId);
    made.blocks.clear();
    made.blocks.push_back(std::move(result));
  }
  auto tools = readTools(message["tools"], rules.api);
  if (!tools) return tools.status().within("messages[" + std::to_string(index) + "]");
  made.tools = std::move(*tools);
  made.responseFormat = readResponseFormat(message["response_format"], rules.api);
  made.task = message["task"].text();
  made.withoutEnd = message["wo_eos"].isTrue();
  if (made.role == ChatRole::kDeveloper && !made.hasContent())
    return messageError(index, "a developer message needs content.");
  return made;
}

}  // namespace colibri

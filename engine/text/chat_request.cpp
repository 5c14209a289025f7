// The public entry points: a request in JSON, or a plain conversation.

#include "text/chat_json.h"
#include "text/chat_message.h"
#include "text/chat_normalise.h"
#include "text/chat_options.h"
#include "text/chat_render.h"
#include <colibri/chat.h>

#include <utility>

namespace colibri {
namespace {

// Top-level tools and response format belong to the first system message.
Status attachTools(const ChatJson& request, bool api, std::vector<EncoderMessage>& messages) {
  if (!api || request["tool_choice"].text() != "none") {
    COLIBRI_ASSIGN_OR_RETURN(std::vector<ChatJson> tools, readTools(request["tools"], api));
    if (!tools.empty()) {
      auto& own = systemMessage(messages).tools;
      own.insert(own.end(), std::make_move_iterator(tools.begin()), std::make_move_iterator(tools.end()));
    }
  }
  ChatJson format = readResponseFormat(request["response_format"], api);
  if (!format.isNull()) systemMessage(messages).responseFormat = std::move(format);
  return Status::ok();
}

}  // namespace

Result<Prompt> renderPrompt(std::string_view requestJson, Dialect dialect, bool apiNormalisation) {
  COLIBRI_ASSIGN_OR_RETURN(const ChatJson request, ChatJson::parse(requestJson));
  const ChatJson& list = request.isArray() ? request : request["messages"];
  if (!list.isArray()) {
    return Status(Code::kUsage, "invalid_request", "The request holds no list of messages.");
  }
  EncoderRequest made;
  COLIBRI_RETURN_IF_ERROR(readOptions(request, apiNormalisation, dialect, made));
  const MessageRules rules{dialect, apiNormalisation};
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    COLIBRI_ASSIGN_OR_RETURN(EncoderMessage message, readMessage(list.items()[i], i, rules));
    made.messages.push_back(std::move(message));
  }
  if (apiNormalisation) COLIBRI_RETURN_IF_ERROR(normaliseMessages(made, dialect));
  COLIBRI_RETURN_IF_ERROR(attachTools(request, apiNormalisation, made.messages));
  return writePrompt(std::move(made), dialect);
}

Result<Prompt> renderPrompt(const std::vector<ChatMessage>& messages, const ChatOptions& options, Dialect dialect) {
  EncoderRequest made;
  made.thinking = options.thinking;
  made.effort = effortLevel(options.effort, dialect);
  const MessageRules rules{dialect, /*api=*/true};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ChatJson message = ChatJson::object();
    message.append("role", ChatJson::string(messages[i].role));
    message.append("content", ChatJson::string(messages[i].content));
    message.append("reasoning_content", ChatJson::string(messages[i].reasoning));
    COLIBRI_ASSIGN_OR_RETURN(EncoderMessage read, readMessage(message, i, rules));
    made.messages.push_back(std::move(read));
  }
  COLIBRI_RETURN_IF_ERROR(normaliseMessages(made, dialect));
  return writePrompt(std::move(made), dialect);
}

}  // namespace colibri

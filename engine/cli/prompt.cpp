#include "cli/prompt.h"

#include "cli/engine_loader.h"

namespace colibri {
namespace {

constexpr std::size_t kMaxMessagesBytes = std::size_t{256} << 20;

/// The request in a messages file, with what the command line says on top.
Result<std::string> requestText(Console& console, const std::string& file, const Settings& settings) {
  COLIBRI_ASSIGN_OR_RETURN(std::string text, readInput(console, file, kMaxMessagesBytes));
  if (!settings.isGiven(Setting::kThink)) return text;
  // Keys keep their order: schemas are part of the prompt byte for byte.
  OrderedJson request = OrderedJson::parse(text, nullptr, false);
  if (request.is_array()) request = OrderedJson{{"messages", std::move(request)}};
  if (!request.is_object()) return text;
  const ChatOptions chat = chatOptions(settings);
  request["thinking"] = chat.thinking;
  request.erase("reasoning_effort");
  if (!chat.effort.empty()) request["reasoning_effort"] = chat.effort;
  return jsonText(request);
}

}  // namespace

ChatOptions chatOptions(const Settings& settings) {
  const std::string think = settings.text(Setting::kThink);
  ChatOptions options;
  options.thinking = think != "off";
  if (options.thinking && think != "on") options.effort = think;
  return options;
}

Result<TokenPrompt> makePrompt(Console& console, const PromptSource& source, const Settings& settings,
                               const std::filesystem::path& model, const Tokenizer* tokenizer) {
  TokenPrompt result;
  if (!source.tokens.empty()) {
    COLIBRI_ASSIGN_OR_RETURN(result.tokens, readTokens(console, source.tokens));
    return result;
  }
  if (tokenizer == nullptr) {
    return Status(Code::kCheckpoint, "tokenizer_missing",
                  "The model's folder has no tokenizer.json, which text needs; --tokens works without it.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const DialectChoice choice, detectDialect(model));
  const std::string system = settings.text(Setting::kSystem);
  Prompt prompt;
  if (source.messages.empty()) {
    std::vector<ChatMessage> messages;
    if (!system.empty()) messages.push_back({"system", system, {}});
    messages.push_back({"user", source.prompt, {}});
    COLIBRI_ASSIGN_OR_RETURN(prompt, renderPrompt(messages, chatOptions(settings), choice.dialect));
  } else {
    if (!system.empty() && settings.source(Setting::kSystem) == SettingSource::kCommandLine) {
      return Status(Code::kUsage, "usage",
                    "--system belongs to --prompt; put a system message into the messages file.");
    }
    COLIBRI_ASSIGN_OR_RETURN(const std::string request, requestText(console, source.messages, settings));
    COLIBRI_ASSIGN_OR_RETURN(prompt, renderPrompt(request, choice.dialect));
  }
  if (!prompt.images.empty()) {
    return Status(Code::kUnavailable, "unavailable_images",
                  "The messages hold images, which this version cannot read.");
  }
  result.tokens = tokenizer->encode(prompt.segments);
  result.startsInReasoning = prompt.startsInReasoning;
  return result;
}

}  // namespace colibri

#include "cli/prompt.h"

#include "cli/engine_loader.h"
#include "cli/images.h"

namespace colibri {
namespace {

constexpr std::size_t kMaxMessagesBytes = std::size_t{256} << 20;

/// The request in a messages file, with what the command line says on top.
Result<std::string> requestText(Console& console, const std::string& file, const Settings& settings) {
  COLIBRI_ASSIGN_OR_RETURN(std::string text, readInput(console, file, kMaxMessagesBytes));
  const OrderedJson request = OrderedJson::parse(text, nullptr, false);
  const bool isList = request.is_array();
  if (!isList && (!request.is_object() || request.empty())) return text;
  // What the file says about reasoning counts, unless --think was given.
  const bool given = settings.isGiven(Setting::kThink);
  if (!isList && !given && request.contains("thinking")) return text;
  const ChatOptions chat = chatOptions(settings);
  OrderedJson more{{"thinking", chat.thinking}};
  if (!chat.effort.empty() || (given && request.contains("reasoning_effort"))) {
    more["reasoning_effort"] = chat.effort.empty() ? OrderedJson(nullptr) : OrderedJson(chat.effort);
  }
  // Spliced in as text, where the last value of a key counts: numbers in tool schemas must keep their digits.
  if (isList) text = "{\"messages\":" + text + "}";
  const std::string keys = jsonText(more);
  text.erase(text.rfind('}'));
  return text + "," + keys.substr(1);
}

/// The images in front of the text, as a client would send them.
Result<Prompt> renderWithImages(const std::string& system, const PromptSource& source, const ChatOptions& chat,
                                Dialect dialect) {
  OrderedJson content = OrderedJson::array();
  for (const std::string& image : source.images) content.push_back({{"type", "image"}, {"path", image}});
  content.push_back({{"type", "text"}, {"text", source.prompt}});
  OrderedJson messages = OrderedJson::array();
  if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
  messages.push_back({{"role", "user"}, {"content", std::move(content)}});
  OrderedJson request{{"messages", std::move(messages)}, {"thinking", chat.thinking}};
  if (!chat.effort.empty()) request["reasoning_effort"] = chat.effort;
  return renderPrompt(jsonText(request), dialect, /*apiNormalisation=*/true);
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
    COLIBRI_ASSIGN_OR_RETURN(result.images, loadImages(source.images));
    return result;
  }
  if (tokenizer == nullptr) {
    return Status(Code::kCheckpoint, "tokenizer_missing",
                  "The model's folder has no tokenizer.json, which text needs; --tokens works without it.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const DialectChoice choice, detectDialect(model));
  const std::string system = settings.text(Setting::kSystem);
  Prompt prompt;
  if (source.messages.empty() && !source.images.empty()) {
    COLIBRI_ASSIGN_OR_RETURN(prompt, renderWithImages(system, source, chatOptions(settings), choice.dialect));
    COLIBRI_ASSIGN_OR_RETURN(result.images, loadImages(source.images));
  } else if (source.messages.empty()) {
    std::vector<ChatMessage> messages;
    if (!system.empty()) messages.push_back({"system", system, {}});
    messages.push_back({"user", source.prompt, {}});
    COLIBRI_ASSIGN_OR_RETURN(prompt, renderPrompt(messages, chatOptions(settings), choice.dialect));
  } else {
    if (!system.empty() && settings.source(Setting::kSystem) == SettingSource::kCommandLine) {
      return Status(Code::kUsage, "usage",
                    "--system belongs to --prompt; put a system message into the messages file.");
    }
    if (!source.images.empty()) {
      return Status(Code::kUsage, "usage",
                    "--image belongs to --prompt or --tokens; put an image block into the messages file.");
    }
    COLIBRI_ASSIGN_OR_RETURN(const std::string request, requestText(console, source.messages, settings));
    COLIBRI_ASSIGN_OR_RETURN(prompt, renderPrompt(request, choice.dialect));
    const std::filesystem::path folder =
        source.messages == "-" ? "" : std::filesystem::path(source.messages).parent_path();
    for (const std::string& record : prompt.images) {
      COLIBRI_ASSIGN_OR_RETURN(ImagePixels pixels, imageFromRecord(record, folder));
      result.images.push_back(std::move(pixels));
    }
  }
  result.tokens = tokenizer->encode(prompt.segments);
  result.startsInReasoning = prompt.startsInReasoning;
  return result;
}

}  // namespace colibri

#include "text/chat_options.h"

#include "text/prompt_constants.h"

#include <charconv>
#include <optional>

namespace colibri {
namespace {

constexpr int kMaxEffort = 100;

Status effortError(std::string_view effort, std::string_view allowed) {
  return {
      Code::kUsage, "invalid_effort",
      "The reasoning effort \"" + std::string(effort) + "\" is not one of this model: " + std::string(allowed) + "."};
}

std::optional<int> numericEffort(std::string_view effort) {
  int value = 0;
  const auto [end, error] = std::from_chars(effort.data(), effort.data() + effort.size(), value);
  if (error != std::errc() || end != effort.data() + effort.size() || value < 1 || value > kMaxEffort)
    return std::nullopt;
  return value;
}

// First of the values that is there.
const ChatJson& firstOf(const ChatJson& a, const ChatJson& b, const ChatJson& c = {}, const ChatJson& d = {}) {
  static const ChatJson kNull;
  for (const ChatJson* value : {&a, &b, &c, &d}) {
    if (!value->isNull()) return *value;
  }
  return kNull;
}

// A mode as true or false, or as a word; nothing when it is neither.
std::optional<bool> modeOf(const ChatJson& value) {
  const std::string& word = value.isObject() ? value["type"].text() : value.text();
  if (value.isTrue() || word == "thinking" || word == "enabled" || word == "adaptive") return true;
  if (value.isFalse() || word == "chat" || word == "disabled") return false;
  return std::nullopt;
}

}  // namespace

Result<std::string> effortText(std::string_view effort, Dialect dialect) {
  switch (dialect) {
    case Dialect::kA:
      if (effort.empty() || effort == "none" || effort == "high") return std::string();
      if (effort == "max") return std::string(prompt::kEffortMaximum);
      return effortError(effort, "high or max");
    case Dialect::kB:
      if (effort.empty() || effort == "low") return std::string();
      if (effort == "high") return std::string(prompt::kEffortMaximum);
      if (effort == "max") return std::string(prompt::kEffortBeyondMaximum);
      return effortError(effort, "low, high or max");
    case Dialect::kC:
      break;
  }
  std::optional<int> number = numericEffort(effort);
  if (effort == "low") number = 50;
  if (effort == "high" || effort.empty()) number = 75;
  if (effort == "max") number = kMaxEffort;
  if (!number) return effortError(effort, "low, high, max or a number from 1 to 100");
  std::string text(prompt::kEffortNumber);
  return text.replace(text.find(prompt::kEffortSlot), prompt::kEffortSlot.size(), std::to_string(*number));
}

std::string effortLevel(std::string_view clientLevel, Dialect dialect) {
  if (clientLevel == "minimal" || clientLevel == "low") return dialect == Dialect::kA ? "high" : "low";
  if (clientLevel == "medium" || clientLevel == "xhigh") return "high";
  if (clientLevel == "ultra") return "max";
  return std::string(clientLevel);
}

Status readOptions(const ChatJson& request, bool api, Dialect dialect, EncoderRequest& made) {
  const auto flag = [&](std::initializer_list<const char*> names, bool& value) -> Status {
    for (const char* name : names) {
      const ChatJson& given = request[name];
      if (given.isNull()) continue;
      if (!given.isTrue() && !given.isFalse()) {
        return {Code::kUsage, "invalid_request", std::string(name) + " must be true or false."};
      }
      value = given.isTrue();
    }
    return Status::ok();
  };
  COLIBRI_RETURN_IF_ERROR(flag({"drop_thinking"}, made.dropThinking));
  COLIBRI_RETURN_IF_ERROR(flag({"add_generation_prompt"}, made.addGenerationPrompt));
  COLIBRI_RETURN_IF_ERROR(flag({"add_bos", "add_default_bos_token"}, made.addBegin));

  const ChatJson& given = firstOf(request["thinking"], request["thinking_mode"], request["mode"]);
  const ChatJson& kwargs = request["chat_template_kwargs"];
  const ChatJson& mode = api ? firstOf(given, request["think"], kwargs["thinking"], kwargs["enable_thinking"]) : given;
  if (!mode.isNull()) {
    const auto thinking = modeOf(mode);
    if (!thinking) return {Code::kUsage, "invalid_request", "thinking must be true or false, not " + mode.dump() + "."};
    made.thinking = *thinking;
  }

  const ChatJson& plain = firstOf(request["reasoning_effort"], request["effort"]);
  const ChatJson& effort =
      api ? firstOf(plain, request["reasoning"]["effort"], request["output_config"]["effort"]) : plain;
  made.effort = effort.text();
  if (!api) return Status::ok();
  if (made.effort == "none") made.thinking = false;
  made.effort = effortLevel(made.effort.empty() ? "high" : made.effort, dialect);
  return Status::ok();
}

}  // namespace colibri

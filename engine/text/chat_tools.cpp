// The `tools` and `response_format` of a request.

#include "text/chat_message.h"

#include <algorithm>

namespace colibri {
namespace {

constexpr std::size_t kMaxToolName = 128;

Status toolError(std::size_t index, const std::string& why) {
  return {Code::kUsage, "invalid_tool", "tools[" + std::to_string(index) + "]: " + why};
}

bool isWritableName(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("_.:/-").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kMaxToolName && std::all_of(name.begin(), name.end(), allowed);
}

// One order of keys, whatever the client's: equal tools then give an equal prompt.
Result<ChatJson> normalisedFunction(const ChatJson& function, std::size_t index) {
  const ChatJson& name = function["name"];
  if (!name.isString() || !isWritableName(name.text())) {
    return toolError(index, "its name must be 1 to 128 of the characters A-Z a-z 0-9 _ . : / -.");
  }
  ChatJson parameters = function["parameters"];
  if (parameters.isNull()) parameters = function["input_schema"];
  if (parameters.isNull()) {
    parameters = ChatJson::object();
    parameters.append("type", ChatJson::string("object"));
    parameters.append("properties", ChatJson::object());
  }
  for (const auto& [key, schema] : parameters["properties"].members()) {
    if (key.find_first_of("\"\n") != std::string::npos) {
      return toolError(
          index, "the parameter name \"" + key + "\" holds a quote or a line break, which a call cannot express.");
    }
  }
  ChatJson ordered = ChatJson::object();
  ordered.append("name", name);
  ordered.append("description", function["description"].isNull() ? ChatJson::string("") : function["description"]);
  ordered.append("parameters", std::move(parameters));
  for (const auto& [key, value] : function.members()) {
    const bool known = key == "name" || key == "description" || key == "parameters" || key == "input_schema" ||
                       key == "strict" || key == "type";
    if (!known) ordered.append(key, value);
  }
  return ordered;
}

}  // namespace

Result<std::vector<ChatJson>> readTools(const ChatJson& tools, bool api) {
  std::vector<ChatJson> functions;
  if (tools.isNull()) return functions;
  if (!tools.isArray()) return Status(Code::kUsage, "invalid_tool", "tools must be a list.");
  for (std::size_t i = 0; i < tools.items().size(); ++i) {
    const ChatJson& tool = tools.items()[i];
    // Chat completions wrap the function; Responses and Anthropic give it flat.
    const bool flat = api && !tool.contains("function") && tool.contains("name");
    const ChatJson& function = flat ? tool : tool["function"];
    if (!function.isObject()) return toolError(i, "it has no function object.");
    if (!api) {
      functions.push_back(function);
      continue;
    }
    COLIBRI_ASSIGN_OR_RETURN(ChatJson normalised, normalisedFunction(function, i));
    functions.push_back(std::move(normalised));
  }
  return functions;
}

ChatJson readResponseFormat(const ChatJson& format, bool api) {
  if (format.isEmpty()) return {};
  if (!api) return format;
  const std::string& type = format["type"].text();
  if (type == "text") return {};
  if (type != "json_schema") return format;
  // Chat completions nest the schema once more than Responses.
  const ChatJson& nested = format["json_schema"]["schema"];
  return nested.isNull() ? (format["schema"].isNull() ? format["json_schema"] : format["schema"]) : nested;
}

}  // namespace colibri

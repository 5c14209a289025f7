#include "text/call_arguments.h"

namespace colibri {
namespace {

// The one type of a schema besides "null".
std::string singleType(const ChatJson& type) {
  if (type.isString()) return type.text();
  std::string single;
  for (const ChatJson& option : type.items()) {
    if (option.text() == "null") continue;
    if (!single.empty()) return {};
    single = option.text();
  }
  return single;
}

bool isOfType(const ChatJson& value, std::string_view type) {
  switch (value.kind()) {
    case ChatJson::Kind::kNumber:
      return type == "number" || (type == "integer" && value.text().find_first_of(".e") == std::string::npos);
    case ChatJson::Kind::kBoolean:
      return type == "boolean";
    case ChatJson::Kind::kArray:
      return type == "array";
    case ChatJson::Kind::kObject:
      return type == "object";
    case ChatJson::Kind::kNull:
    case ChatJson::Kind::kString:
      return false;
  }
  return false;
}

}  // namespace

ParameterTypes::ParameterTypes(std::string_view tools) {
  if (tools.empty()) return;
  const auto list = ChatJson::parse(tools);
  if (!list) return;
  for (const ChatJson& tool : list->items()) {
    const ChatJson& function = tool["function"].isNull() ? tool : tool["function"];
    const ChatJson& parameters = function["parameters"].isNull() ? function["input_schema"] : function["parameters"];
    for (const auto& [name, schema] : parameters["properties"].members()) {
      m_types[{function["name"].text(), name}] = singleType(schema["type"]);
    }
  }
}

std::string ParameterTypes::typeOf(const std::string& tool, const std::string& parameter) const {
  const auto found = m_types.find({tool, parameter});
  return found == m_types.end() ? std::string() : found->second;
}

void CallArguments::add(const std::string& tool, const std::string& name, std::string_view value, bool markedString,
                        const ParameterTypes& types) {
  const std::string declared = types.typeOf(tool, name);
  bool asString = markedString;
  if (markedString && !declared.empty() && declared != "string") {
    const auto parsed = ChatJson::parse(value);
    asString = !parsed || !isOfType(*parsed, declared);
  } else if (!markedString) {
    // A declared string stays as it was written, unless it was written as a JSON string already.
    const auto parsed = ChatJson::parse(value);
    asString = !parsed || (declared == "string" && !parsed->isString());
  }
  std::string text;
  if (asString) {
    appendJsonString(value, text);
  } else {
    text = value;
  }
  const auto [place, isNew] = m_places.emplace(name, m_entries.size());
  if (isNew) {
    m_entries.emplace_back(name, std::move(text));
  } else {
    m_entries[place->second].second = std::move(text);
  }
}

std::string CallArguments::json() const {
  std::string out = "{";
  for (const auto& [name, value] : m_entries) {
    if (out.size() > 1) out += ", ";
    appendJsonString(name, out);
    out += ": ";
    out += value;
  }
  return out + "}";
}

}  // namespace colibri

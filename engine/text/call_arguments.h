#pragma once
// The arguments of a generated call as JSON text.

#include "text/chat_json.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace colibri {

/// What a request's tools say about the types of parameters.
class ParameterTypes {
public:
  /// `tools`: JSON text of the list, or "". Anything unreadable in it declares nothing.
  explicit ParameterTypes(std::string_view tools);
  /// The one declared type of the tool's parameter besides null, or "".
  [[nodiscard]] std::string typeOf(const std::string& tool, const std::string& parameter) const;

private:
  std::map<std::pair<std::string, std::string>, std::string> m_types;
};

/// Collects the parameters of one call. Order is kept and values keep their spelling; a repeated name keeps its place
/// and takes the later value.
class CallArguments {
public:
  /// `markedString`: the markup said string="true". A value marked otherwise that is not JSON becomes a string.
  void add(const std::string& tool, const std::string& name, std::string_view value, bool markedString,
           const ParameterTypes& types);
  [[nodiscard]] std::string json() const;

private:
  std::vector<std::pair<std::string, std::string>> m_entries;  ///< name and JSON text
  std::map<std::string, std::size_t> m_places;
};

}  // namespace colibri

#include "checkpoint/config_scope.h"

#include "base/json.h"
#include "checkpoint/json_cursor.h"

#include <cmath>

namespace colibri {
namespace {

std::string numberText(double value) {
  if (std::abs(value) < 1e15 && value == std::floor(value)) return std::to_string(static_cast<std::int64_t>(value));
  return Json(value).dump();
}

}  // namespace

Status configInvalid(const std::string& why) {
  return {Code::kCheckpoint, "config_invalid", "config.json: " + why};
}

Status configUnsupported(const std::string& why) {
  return {Code::kCheckpoint, "unsupported_model", "config.json: " + why};
}

std::string shortText(const Json& value) {
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

std::string bothNames(std::string_view hub, std::string_view vendor) {
  return vendor.empty() ? std::string(hub) : std::string(hub) + " (or " + std::string(vendor) + ")";
}

std::optional<std::int64_t> wholeNumber(const Json& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number()) return std::nullopt;
  const double real = value.get<double>();  // exact for every value in range
  if (!(real >= static_cast<double>(least) && real <= static_cast<double>(most)) || real != std::floor(real))
    return std::nullopt;
  return static_cast<std::int64_t>(real);
}

ConfigScope::ConfigScope(const Json& root) : m_root(root) {
  const auto text = root.find("text_config");
  if (text != root.end() && text->is_object()) m_text = &*text;
  m_vendorSpelling = find("hidden_size") == nullptr && find("dim") != nullptr;
}

const Json* ConfigScope::find(std::string_view key) const {
  if (key.empty()) return nullptr;
  const auto dot = key.find('.');
  for (const Json* scope : {m_text, &m_root}) {
    if (scope == nullptr) continue;
    auto at = scope->find(std::string(key.substr(0, dot)));
    if (at == scope->end()) continue;
    if (dot != std::string_view::npos) {
      if (!at->is_object()) continue;
      const auto inner = at->find(std::string(key.substr(dot + 1)));
      if (inner == at->end()) continue;
      at = inner;
    }
    if (!at->is_null()) return &*at;
  }
  return nullptr;
}

const Json* ConfigScope::findRoot(const std::string& key) const {
  const auto at = m_root.find(key);
  return at == m_root.end() || at->is_null() ? nullptr : &*at;
}

Status ConfigScope::lookUp(std::string_view hub, std::string_view vendor, const Json*& value) const {
  const Json* one = find(hub);
  const Json* other = find(vendor);
  if (one != nullptr && other != nullptr && *one != *other) {
    return configInvalid(std::string(hub) + " is " + shortText(*one) + " but " + std::string(vendor) + " is " +
                         shortText(*other) + "; they mean the same and must agree.");
  }
  value = one != nullptr ? one : other;
  return Status::ok();
}

bool ConfigScope::isRequired(Presence presence) const {
  switch (presence) {
    case Presence::kRequired:
      return true;
    case Presence::kHubRequired:
      return !m_vendorSpelling;
    case Presence::kV4Required:
      return m_family == ModelFamily::kDeepSeekV4;
    case Presence::kV41Required:
      return m_family == ModelFamily::kDeepSeekV41;
    case Presence::kOptional:
      return false;
  }
  return false;
}

Status ConfigScope::missing(std::string_view hub, std::string_view vendor) {
  return configInvalid("the key " + bothNames(hub, vendor) + " is missing. Download config.json again.");
}

template <class Whole>
Status ConfigScope::readWhole(const KeyNames& names, double least, double most, Whole& number) const {
  const Json* value = nullptr;
  COLIBRI_RETURN_IF_ERROR(lookUp(names.hub, names.vendor, value));
  if (value == nullptr) return isRequired(names.presence) ? missing(names.hub, names.vendor) : Status::ok();
  const auto whole = wholeNumber(*value, static_cast<std::int64_t>(least), static_cast<std::int64_t>(most));
  if (!whole) {
    const std::string possible =
        least == most ? "only " + numberText(least) + " is possible."
                      : "a whole number from " + numberText(least) + " to " + numberText(most) + " is possible.";
    return configInvalid(bothNames(names.hub, names.vendor) + " is " + shortText(*value) + "; " + possible);
  }
  number = static_cast<Whole>(*whole);
  return Status::ok();
}

Status ConfigScope::readNumber(const KeyNames& names, double least, double most, int& number) const {
  return readWhole(names, least, most, number);
}

Status ConfigScope::readNumber(const KeyNames& names, double least, double most, std::int64_t& number) const {
  return readWhole(names, least, most, number);
}

Status ConfigScope::readNumber(const KeyNames& names, double least, double most, double& number) const {
  const Json* value = nullptr;
  COLIBRI_RETURN_IF_ERROR(lookUp(names.hub, names.vendor, value));
  if (value == nullptr) return isRequired(names.presence) ? missing(names.hub, names.vendor) : Status::ok();
  const double real = value->is_number() ? value->get<double>() : std::nan("");
  if (!(real >= least && real <= most)) {
    return configInvalid(bothNames(names.hub, names.vendor) + " is " + shortText(*value) + "; a number from " +
                         numberText(least) + " to " + numberText(most) + " is possible.");
  }
  number = real;
  return Status::ok();
}

Status ConfigScope::checkFixed(const FixedKey& key) const {
  const Json* value = nullptr;
  COLIBRI_RETURN_IF_ERROR(lookUp(key.hub, key.vendor, value));
  if (value == nullptr || *value == Json::parse(key.value, nullptr, false)) return Status::ok();
  return configUnsupported(bothNames(key.hub, key.vendor) + " is " + shortText(*value) + "; Colibri knows only " +
                           std::string(key.value) + ".");
}

Status ConfigScope::readList(std::string_view hub, std::string_view vendor, std::int64_t least, std::int64_t most,
                             std::size_t mostEntries, std::vector<std::int64_t>& list, bool& there) const {
  const Json* value = nullptr;
  list.clear();
  COLIBRI_RETURN_IF_ERROR(lookUp(hub, vendor, value));
  there = value != nullptr;
  if (!there) return Status::ok();
  if (!value->is_array() || value->size() > mostEntries) {
    return configInvalid(bothNames(hub, vendor) + " must be a list of at most " + std::to_string(mostEntries) +
                         " whole numbers.");
  }
  for (const Json& entry : *value) {
    const auto whole = wholeNumber(entry, least, most);
    if (!whole) {
      return configInvalid(bothNames(hub, vendor) + " has " + shortText(entry) + "; " + std::to_string(least) + " to " +
                           std::to_string(most) + " is possible.");
    }
    list.push_back(*whole);
  }
  return Status::ok();
}

Status ConfigScope::readLayers(std::string_view hub, std::string_view vendor, int layers, bool required,
                               std::vector<int>& list) const {
  std::vector<std::int64_t> entries;
  bool there = false;
  list.clear();
  COLIBRI_RETURN_IF_ERROR(readList(hub, vendor, 0, layers - 1, static_cast<std::size_t>(layers), entries, there));
  if (!there && required) return missing(hub, vendor);
  for (const std::int64_t layer : entries) {
    if (!list.empty() && layer <= list.back()) {
      return configInvalid(bothNames(hub, vendor) + " has layer " + std::to_string(layer) + " after layer " +
                           std::to_string(list.back()) + "; the layers must ascend.");
    }
    list.push_back(static_cast<int>(layer));
  }
  return Status::ok();
}

Status ConfigScope::readToken(std::string_view hub, std::string_view vendor, int vocabSize, TokenId& token) const {
  const Json* value = nullptr;
  COLIBRI_RETURN_IF_ERROR(lookUp(hub, vendor, value));
  if (value == nullptr) return Status::ok();
  if (value->is_array() && !value->empty()) value = &value->front();
  const auto whole = wholeNumber(*value, 0, vocabSize - 1);
  if (!whole) {
    return configInvalid(bothNames(hub, vendor) + " is " + shortText(*value) + "; a token below vocab_size is needed.");
  }
  token = static_cast<TokenId>(*whole);
  return Status::ok();
}

}  // namespace colibri

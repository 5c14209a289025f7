#pragma once
// Names of the JSON types without their weight: for headers that only mention them.

#include <nlohmann/json_fwd.hpp>

namespace colibri {

using Json = nlohmann::json;
/// Keeps the order of keys.
using OrderedJson = nlohmann::ordered_json;

}  // namespace colibri

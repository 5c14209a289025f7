#include "cli/oracle_file.h"

#include "cli/engine_loader.h"

#include <limits>

namespace colibri {
namespace {

Status wrong(const std::string& where, const std::string& what) {
  std::string message = "The oracle file does not fit its format: ";
  return Status(Code::kUsage, "bad_oracle", message.append(where).append(what).append("."));
}

Result<std::vector<double>> numbers(const Json& json, const std::string& where) {
  std::vector<double> values;
  if (!json.is_array()) return wrong(where, " must be a list of numbers");
  for (const Json& value : json) {
    if (!value.is_number()) return wrong(where, " must be a list of numbers");
    values.push_back(value.get<double>());
  }
  return values;
}

Result<std::vector<std::string>> fileNames(const Json& json, const std::string& where) {
  std::vector<std::string> names;
  if (!json.is_array()) return wrong(where, ".images must be a list of file names");
  for (const Json& name : json) {
    if (!name.is_string()) return wrong(where, ".images must be a list of file names");
    names.push_back(name.get<std::string>());
  }
  return names;
}

Status readTolerance(const Json& json, const std::string& where, OracleTolerance& tolerance) {
  if (!json.is_object()) return wrong(where, ".tolerance must be an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_number()) return wrong(where, ".tolerance." + key + " must be a number");
    const double number = value.get<double>();
    if (key == "max_abs") {
      tolerance.maxAbs = number;
    } else if (key == "rms_median") {
      tolerance.rmsMedian = number;
    } else if (key == "rms_p90") {
      tolerance.rmsP90 = number;
    } else if (key == "argmax_share") {
      tolerance.argmaxShare = number;
    } else if (key == "argmax_margin") {
      tolerance.argmaxMargin = number;
    } else {
      return wrong(where, ".tolerance has an unknown key '" + key + "'");
    }
  }
  return Status::ok();
}

Result<OraclePosition> readPosition(const Json& json, const std::string& where) {
  if (!json.is_object() || !json.contains("position") || !json.contains("ids") || !json.contains("values")) {
    return wrong(where, ".teacher holds entries of position, ids and values");
  }
  OraclePosition position;
  if (!json["position"].is_number_integer() || json["position"].get<std::int64_t>() < 0) {
    return wrong(where, ".teacher has a position that is no whole number");
  }
  position.position = json["position"].get<std::int64_t>();
  COLIBRI_ASSIGN_OR_RETURN(position.ids, tokensFromJson(json["ids"], where + ".teacher.ids"));
  COLIBRI_ASSIGN_OR_RETURN(position.values, numbers(json["values"], where + ".teacher.values"));
  if (position.ids.empty() || position.ids.size() != position.values.size()) {
    return wrong(where, ".teacher needs as many values as ids, and at least one");
  }
  return position;
}

Result<OracleCase> readCase(const Json& json, std::size_t number) {
  std::string where = "case " + std::to_string(number + 1);
  if (!json.is_object()) return wrong(where, " must be an object");
  OracleCase oracle;
  oracle.name = json.value("name", where);
  where += " (" + oracle.name + ")";
  const Json& profile = json.contains("numerics") ? json["numerics"] : Json("vendor");
  if (profile != "vendor" && profile != "fp32") return wrong(where, ".numerics must be vendor or fp32");
  oracle.numerics = profile == "fp32" ? Numerics::kFp32 : Numerics::kVendor;
  const Json& rule = json.contains("index_keys") ? json["index_keys"] : Json("vendor");
  if (rule != "vendor" && rule != "owner") return wrong(where, ".index_keys must be vendor or owner");
  oracle.indexKeys = rule == "owner" ? IndexKeyRule::kOwner : IndexKeyRule::kVendor;
  if (json.contains("images")) {
    COLIBRI_ASSIGN_OR_RETURN(oracle.images, fileNames(json["images"], where));
  }
  if (!json.contains("prompt")) return wrong(where, " has no prompt");
  COLIBRI_ASSIGN_OR_RETURN(oracle.prompt, tokensFromJson(json["prompt"], where + ".prompt"));
  if (oracle.prompt.empty()) return wrong(where, ".prompt is empty");
  if (json.contains("continuation")) {
    COLIBRI_ASSIGN_OR_RETURN(oracle.continuation, tokensFromJson(json["continuation"], where + ".continuation"));
  }
  if (json.contains("greedy")) {
    if (!json["greedy"].is_boolean()) return wrong(where, ".greedy must be true or false");
    oracle.greedy = json["greedy"].get<bool>();
  }
  if (json.contains("margins")) {
    COLIBRI_ASSIGN_OR_RETURN(oracle.margins, numbers(json["margins"], where + ".margins"));
  }
  if (json.contains("tolerance")) COLIBRI_RETURN_IF_ERROR(readTolerance(json["tolerance"], where, oracle.tolerance));
  const auto tokens = static_cast<std::int64_t>(oracle.prompt.size() + oracle.continuation.size());
  if (json.contains("teacher")) {
    if (!json["teacher"].is_array()) return wrong(where, ".teacher must be a list");
    for (const Json& entry : json["teacher"]) {
      COLIBRI_ASSIGN_OR_RETURN(OraclePosition position, readPosition(entry, where));
      // Images take more positions than their ids; those are counted once the images are known.
      if (oracle.images.empty() && position.position >= tokens)
        return wrong(where, ".teacher has a position behind its tokens");
      oracle.teacher.push_back(std::move(position));
    }
  }
  return oracle;
}

}  // namespace

Result<OracleFile> parseOracle(const Json& json) {
  if (!json.is_object() || !json.contains("cases") || !json["cases"].is_array())
    return wrong("it", " needs a list of cases");
  if (json.value("format", Json()) != 1) return wrong("format", " must be 1");
  const Json values = json.value("values", Json("logits"));
  if (values != "logits" && values != "logprobs") return wrong("values", " must be logits or logprobs");
  OracleFile file;
  file.logprobs = values == "logprobs";
  for (std::size_t i = 0; i < json["cases"].size(); ++i) {
    COLIBRI_ASSIGN_OR_RETURN(OracleCase oracle, readCase(json["cases"][i], i));
    file.cases.push_back(std::move(oracle));
  }
  return file;
}

}  // namespace colibri

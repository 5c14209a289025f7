#include "base/hash.h"
#include "base/json.h"
#include "text/prompt_constants.h"
#include <colibri/chat.h>

#include <array>
#include <fstream>
#include <system_error>

namespace colibri {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSmallFile = std::size_t{4} << 20;

struct KnownEncoder {
  std::string_view sha256;
  Dialect dialect;
  std::string_view name;
};
// The released encoder files.
constexpr std::array<KnownEncoder, 3> kEncoders{{
    {"bdbd57c132a1b3725042323d02b98b9d1df28e5f388f134399555d041f5055e0", Dialect::kA, "V4"},
    {"abc0d26120250dda0ae077dc64aa28836026e61e970854aaeb792445e6a0dde6", Dialect::kB, "V4 0731"},
    {"502bdaec8a3fd88ebc24c4721a7038fbe42f2063c664638127056107920035c1", Dialect::kC, "V4.1"},
}};

std::optional<DialectChoice> fromEncoderFile(const fs::path& folder, std::string& note) {
  for (const char* name : {"encoding/encoding.py", "encoding/encoding_dsv4.py"}) {
    const auto text = readFile(folder / name, kMaxSmallFile);
    if (!text) continue;
    const std::string hash = sha256Hex(std::as_bytes(std::span(text->data(), text->size())));
    for (const KnownEncoder& known : kEncoders) {
      if (known.sha256 != hash) continue;
      return DialectChoice{known.dialect, "its " + std::string(name) + " is the one of " + std::string(known.name)};
    }
    note = "; its " + std::string(name) + " is not one that Colibri knows, so a newer prompt format may be meant";
  }
  return std::nullopt;
}

Result<std::optional<DialectChoice>> fromConfig(const fs::path& folder) {
  const auto text = readFile(folder / "config.json", kMaxSmallFile);
  if (!text) return std::optional<DialectChoice>();
  COLIBRI_ASSIGN_OR_RETURN(const Json config, parseJson(*text, "config.json", "config_invalid"));
  if (!config.is_object()) return Status(Code::kCheckpoint, "config_invalid", "config.json is not an object.");
  const auto inner = config.find("text_config");
  const Json& model = inner != config.end() && inner->is_object() ? *inner : config;
  const std::string type = config.contains("model_type") && config["model_type"].is_string()
                               ? config["model_type"].get<std::string>()
                               : std::string();
  if (type.starts_with("deepseek_v41") || model.contains("engram_layer_ids")) {
    return std::optional(DialectChoice{Dialect::kC, "config.json describes a V4.1 model"});
  }
  if (model.contains("dspark_block_size")) {
    return std::optional(
        DialectChoice{Dialect::kB, "config.json describes a V4 with DSpark drafting, which came with 0731"});
  }
  if (type.starts_with("deepseek_v4")) {
    return std::optional(DialectChoice{Dialect::kA, "config.json describes a V4 without DSpark drafting"});
  }
  return std::optional<DialectChoice>();
}

std::optional<DialectChoice> fromTokenizer(const fs::path& folder) {
  const auto tokenizer = Tokenizer::load(folder);
  if (!tokenizer) return std::nullopt;
  if ((*tokenizer)->find(prompt::kSystem)) return DialectChoice{Dialect::kC, "its tokenizer has a <｜System｜> token"};
  return DialectChoice{Dialect::kA, "its tokenizer has no <｜System｜> token"};
}

}  // namespace

Result<DialectChoice> detectDialect(const std::filesystem::path& folder) {
  std::string note;
  if (auto choice = fromEncoderFile(folder, note)) return *choice;
  COLIBRI_ASSIGN_OR_RETURN(auto choice, fromConfig(folder));
  if (!choice) choice = fromTokenizer(folder);
  if (!choice) {
    return Status(
        Code::kCheckpoint, "unknown_dialect",
        "The prompt format of " + folder.string() +
            " is not known: there is neither a usable config.json nor a tokenizer.json. Choose one with --dialect.");
  }
  choice->reason += note;
  return *choice;
}

Result<std::optional<Dialect>> parseDialect(std::string_view name) {
  if (name == "auto") return std::optional<Dialect>();
  if (name == "a") return std::optional(Dialect::kA);
  if (name == "b") return std::optional(Dialect::kB);
  if (name == "c") return std::optional(Dialect::kC);
  return Status(Code::kUsage, "invalid_dialect",
                "The dialect \"" + std::string(name) + "\" is not one of auto, a, b, c.");
}

}  // namespace colibri

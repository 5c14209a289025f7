#include "session/engram_tables.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/whole_file.h"
#include "text/token_classes.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSidecarName = "dsv41_engram.json";
constexpr JsonLimits kLimits{std::size_t{16} << 20, 8};
/// Changes when tokenClasses() does: what was kept by an older rule is made again.
constexpr int kClassRule = 1;

Status invalid(std::string_view what, const std::string& sentence) {
  return Status(Code::kCheckpoint, "engram_tables_invalid",
                std::string(what) + " cannot be used: " + sentence +
                    " Delete that file; Colibri derives its own from tokenizer.json.");
}

/// A whole number, or a decimal string of one; false for anything else.
bool readNumber(const Json& value, std::uint64_t& number) {
  if (value.is_number_unsigned()) {
    number = value.get<std::uint64_t>();
    return true;
  }
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Whether the numbers in `value`, however they are nested, are `expected`.
bool holds(const Json& value, std::span<const std::uint64_t> expected) {
  std::size_t at = 0;
  const auto walk = [&](const auto& self, const Json& part) -> bool {
    if (part.is_array())
      return std::all_of(part.begin(), part.end(), [&](const Json& element) { return self(self, element); });
    std::uint64_t number = 0;
    return readNumber(part, number) && at < expected.size() && expected[at++] == number;
  };
  return walk(walk, value) && at == expected.size();
}

template <typename Numbers>
void append(std::vector<std::uint64_t>& all, const Numbers& numbers) {
  for (const auto number : numbers) all.push_back(static_cast<std::uint64_t>(number));
}

/// The constants of all tables, by their key in the file.
struct Constants {
  std::vector<std::uint64_t> primes;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> multipliers;

  explicit Constants(const EngramHash& hash) {
    for (const EngramHash::Table& table : hash.tables) {
      append(primes, table.primes);
      append(offsets, table.offsets);
      append(multipliers, table.multipliers);
    }
  }
};

/// The map in the order in which classes are first used, each one once.
Result<std::vector<std::int32_t>> readMap(const ModelConfig& config, const Json& json, std::string_view what) {
  const auto found = json.find("token_map");
  if (found == json.end() || !found->is_array()) return invalid(what, "it has no list token_map.");
  if (found->size() != static_cast<std::size_t>(config.vocabSize)) {
    return invalid(what, "token_map has " + std::to_string(found->size()) + " entries, the vocabulary " +
                             std::to_string(config.vocabSize) + ".");
  }
  std::vector<std::int32_t> classOf;
  classOf.reserve(found->size());
  std::uint64_t classes = 0;
  for (const Json& value : *found) {
    std::uint64_t number = 0;
    if (!readNumber(value, number) || number > classes || number >= static_cast<std::uint64_t>(config.engram.classes)) {
      return invalid(
          what, "the class of token " + std::to_string(classOf.size()) + " in token_map is none that can stand there.");
    }
    if (number == classes) ++classes;
    classOf.push_back(static_cast<std::int32_t>(number));
  }
  if (classes != static_cast<std::uint64_t>(config.engram.classes)) {
    return invalid(what, "token_map has " + std::to_string(classes) +
                             " classes, engram_compressed_vocab_size in config.json is " +
                             std::to_string(config.engram.classes) + ".");
  }
  return classOf;
}

Result<EngramTables> readTables(const ModelConfig& config, const Json& json, std::string_view what) {
  if (!config.engram.present()) return invalid(what, "the model has no n-gram tables.");
  if (!json.is_object()) return invalid(what, "it is no JSON object.");
  EngramTables tables;
  COLIBRI_ASSIGN_OR_RETURN(tables.classOf, readMap(config, json, what));
  const EngramConfig& engram = config.engram;
  COLIBRI_ASSIGN_OR_RETURN(tables.hash,
                           EngramHash::make(engram, tables.classOf[static_cast<std::size_t>(engram.padToken)]));
  const Constants constants(tables.hash);
  struct Row {
    const char* key;
    std::vector<std::uint64_t> expected;
    bool isRequired;
  };
  std::vector<Row> rows{{"primes", constants.primes, true},
                        {"multipliers", constants.multipliers, true},
                        {"offsets", constants.offsets, false},
                        {"layer_ids", {}, false},
                        {"num_embeddings", {}, false},
                        {"max_ngram_size", {static_cast<std::uint64_t>(engram.maxNgram)}, false},
                        {"n_heads", {static_cast<std::uint64_t>(engram.heads)}, false},
                        {"head_dim", {static_cast<std::uint64_t>(engram.headDim)}, false},
                        {"pad_id", {static_cast<std::uint64_t>(engram.padToken)}, false},
                        {"compressed_vocab_size", {static_cast<std::uint64_t>(engram.classes)}, false}};
  append(rows[3].expected, engram.layers);
  append(rows[4].expected, engram.rows);
  for (const Row& row : rows) {
    const auto found = json.find(row.key);
    if (found == json.end()) {
      if (row.isRequired) return invalid(what, std::string("it has no ") + row.key + ".");
      continue;
    }
    if (!holds(*found, row.expected))
      return invalid(what, std::string("its ") + row.key + " are not those that follow from config.json.");
  }
  return tables;
}

/// Names the vocabulary that a map was derived from.
std::string vocabularyHash(const Tokenizer& tokenizer, int vocabSize) {
  std::string all;
  for (TokenId id = 0; id < vocabSize; ++id) {
    const std::string_view bytes = tokenizer.bytes(id);
    all += std::to_string(bytes.size());
    all += ':';
    all += bytes;
  }
  return sha256Hex(std::as_bytes(std::span(all)));
}

OrderedJson tablesJson(const ModelConfig& config, const EngramTables& tables) {
  const EngramConfig& engram = config.engram;
  OrderedJson json{
      {"max_ngram_size", engram.maxNgram}, {"n_heads", engram.heads},         {"head_dim", engram.headDim},
      {"pad_id", engram.padToken},         {"layer_ids", engram.layers},      {"num_embeddings", engram.rows},
      {"primes", OrderedJson::array()},    {"offsets", OrderedJson::array()}, {"multipliers", OrderedJson::array()}};
  for (const EngramHash::Table& table : tables.hash.tables) {
    OrderedJson sizes = OrderedJson::array();
    for (std::size_t first = 0; first < table.primes.size(); first += static_cast<std::size_t>(engram.heads)) {
      const auto begin = table.primes.begin() + static_cast<std::ptrdiff_t>(first);
      sizes.push_back(std::vector<std::int64_t>(begin, begin + engram.heads));
    }
    json["primes"].push_back(std::move(sizes));
    json["offsets"].push_back(table.offsets);
    OrderedJson texts = OrderedJson::array();
    for (const std::uint64_t multiplier : table.multipliers) texts.push_back(std::to_string(multiplier));
    json["multipliers"].push_back(std::move(texts));
  }
  json["token_map"] = tables.classOf;
  json["compressed_vocab_size"] = engram.classes;
  return json;
}

/// What was kept, when it is whole, by today's rule and of this vocabulary.
std::optional<EngramTables> readKept(const ModelConfig& config, const fs::path& file, const std::string& vocabulary) {
  if (file.empty()) return std::nullopt;
  const Result<std::string> text = readFile(file, kLimits.maxBytes);
  if (!text) return std::nullopt;
  const std::string what = file.string();
  const Result<Json> json = parseJson(*text, what, "engram_tables_invalid", kLimits);
  if (!json || !json->is_object()) return std::nullopt;
  if (json->value("class_rule", Json()) != kClassRule) return std::nullopt;
  if (!vocabulary.empty() && json->value("vocabulary", Json()) != vocabulary) return std::nullopt;
  Result<EngramTables> tables = readTables(config, *json, what);
  if (!tables) return std::nullopt;
  return std::move(*tables);
}

void keep(const ModelConfig& config, const EngramTables& tables, const fs::path& file, const std::string& vocabulary,
          std::vector<std::string>* notices) {
  if (file.empty()) return;
  OrderedJson json = tablesJson(config, tables);
  json["class_rule"] = kClassRule;
  json["vocabulary"] = vocabulary;
  const std::error_code error = replaceFile(file, json.dump());
  if (!error || notices == nullptr) return;
  notices->push_back("The tables for n-grams are derived anew at each start, since " + file.string() +
                     " cannot be written (" + error.message() + "). Check the folder's permissions and free space.");
}

Result<EngramTables> openSidecar(const ModelConfig& config, const fs::path& path, const Tokenizer* tokenizer) {
  const std::string what = path.string();
  Result<std::string> text = readFile(path, kLimits.maxBytes);
  if (!text) return invalid(what, text.status().message());
  COLIBRI_ASSIGN_OR_RETURN(EngramTables tables, parseEngramTables(config, *text, what));
  if (tokenizer == nullptr) return tables;
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<std::int32_t> derived, tokenClasses(*tokenizer, config.vocabSize));
  const auto [mine, theirs] = std::mismatch(derived.begin(), derived.end(), tables.classOf.begin());
  if (mine == derived.end()) return tables;
  return invalid(what, "its token_map puts token " + std::to_string(mine - derived.begin()) + " into class " +
                           std::to_string(*theirs) + ", by tokenizer.json it is " + std::to_string(*mine) + ".");
}

}  // namespace

std::filesystem::path engramTablesFile(const fs::path& dataFolder, const std::string& modelId) {
  // Ids become file names, so only the form that modelIdOf() gives is taken.
  const bool isId =
      !modelId.empty() && modelId.size() <= 64 && modelId.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (dataFolder.empty() || !isId) return {};
  return dataFolder / "engram" / (modelId + ".json");
}

std::string engramTablesJson(const ModelConfig& config, const EngramTables& tables) {
  return tablesJson(config, tables).dump();
}

Result<EngramTables> parseEngramTables(const ModelConfig& config, std::string_view json, std::string_view what) {
  const Result<Json> parsed = parseJson(json, what, "engram_tables_invalid", kLimits);
  if (!parsed) return invalid(what, parsed.status().message());
  return readTables(config, *parsed, what);
}

Result<EngramTables> deriveEngramTables(const ModelConfig& config, const Tokenizer& tokenizer) {
  const EngramConfig& engram = config.engram;
  EngramTables tables;
  COLIBRI_ASSIGN_OR_RETURN(tables.classOf, tokenClasses(tokenizer, config.vocabSize));
  const auto last = std::max_element(tables.classOf.begin(), tables.classOf.end());
  const int classes = last == tables.classOf.end() ? 0 : *last + 1;
  if (classes != engram.classes) {
    return Status(Code::kCheckpoint, "engram_classes",
                  "tokenizer.json gives " + std::to_string(classes) + " classes of tokens, config.json names " +
                      std::to_string(engram.classes) +
                      " (engram_compressed_vocab_size). Copy both files again from the original model's folder.");
  }
  COLIBRI_ASSIGN_OR_RETURN(tables.hash,
                           EngramHash::make(engram, tables.classOf[static_cast<std::size_t>(engram.padToken)]));
  return tables;
}

Result<EngramTables> openEngramTables(const ModelConfig& config, const fs::path& modelFolder,
                                      const Tokenizer* tokenizer, const fs::path& dataFolder,
                                      const std::string& modelId, std::vector<std::string>* notices) {
  const fs::path sidecar = modelFolder / kSidecarName;
  std::error_code error;
  if (fs::exists(sidecar, error)) return openSidecar(config, sidecar, tokenizer);
  const fs::path file = engramTablesFile(dataFolder, modelId);
  const std::string vocabulary = tokenizer == nullptr ? std::string() : vocabularyHash(*tokenizer, config.vocabSize);
  if (std::optional<EngramTables> kept = readKept(config, file, vocabulary)) return std::move(*kept);
  if (tokenizer == nullptr) {
    return Status(Code::kCheckpoint, "tokenizer_missing",
                  "There is no tokenizer.json in " + modelFolder.string() +
                      ", and this model's n-gram tables are looked up by what it says. Copy it from the original "
                      "model's folder.");
  }
  COLIBRI_ASSIGN_OR_RETURN(EngramTables tables, deriveEngramTables(config, *tokenizer));
  keep(config, tables, file, vocabulary, notices);
  return tables;
}

}  // namespace colibri

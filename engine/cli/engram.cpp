// coli engram
#include "checkpoint/model_config.h"
#include "cli/commands.h"
#include "session/engram_tables.h"
#include <colibri/tokenizer.h>

#include <iostream>
#include <span>

namespace colibri {
namespace {

constexpr std::size_t kMaxTokensBytes = std::size_t{256} << 20;
constexpr TokenId kImagePosition = -1;

struct Options {
  std::string model;
  std::string tokens;
};

struct Sequence {
  std::vector<TokenId> tokens;
  std::vector<std::int32_t> classes;
};

Result<Sequence> readSequence(const Json& ids, const EngramTables& tables, const std::string& where) {
  if (!ids.is_array()) {
    return Status(Code::kUsage, "bad_tokens", where + " is no list of token ids, such as [0,123,-1].");
  }
  Sequence sequence;
  const auto vocabulary = static_cast<std::int64_t>(tables.classOf.size());
  for (const Json& value : ids) {
    std::int64_t id = 0;
    const bool isWhole = value.is_number_integer();
    if (isWhole) id = value.get<std::int64_t>();
    // What does not fit would become negative.
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(vocabulary))
      id = vocabulary;
    if (!isWhole || id < kImagePosition || id >= vocabulary) {
      return Status(Code::kUsage, "bad_tokens",
                    where + ", entry " + std::to_string(sequence.tokens.size()) + ": " + jsonText(value) +
                        " is no token id of this model; 0 to " + std::to_string(vocabulary - 1) +
                        " are, and -1 stands for an image position.");
    }
    sequence.tokens.push_back(static_cast<TokenId>(id));
    sequence.classes.push_back(id == kImagePosition ? kDeadClass : tables.classOf[static_cast<std::size_t>(id)]);
  }
  return sequence;
}

/// The file's list of ids, or each list of its list.
Result<std::vector<Sequence>> readSequences(Console& console, const std::string& file, const EngramTables& tables) {
  COLIBRI_ASSIGN_OR_RETURN(const Json json, readJsonInput(console, file, kMaxTokensBytes));
  const std::string name = file == "-" ? "Standard input" : file;
  std::vector<Sequence> sequences;
  if (!json.is_array() || json.empty() || !json.front().is_array()) {
    COLIBRI_ASSIGN_OR_RETURN(Sequence only, readSequence(json, tables, name));
    sequences.push_back(std::move(only));
    return sequences;
  }
  for (const Json& list : json) {
    COLIBRI_ASSIGN_OR_RETURN(Sequence sequence,
                             readSequence(list, tables, name + ", list " + std::to_string(sequences.size())));
    sequences.push_back(std::move(sequence));
  }
  return sequences;
}

/// The rows of one position.
class RowFinder {
public:
  explicit RowFinder(const EngramHash& hash) : m_hash(hash), m_rows(static_cast<std::size_t>(hash.columns())) {}
  const std::vector<std::int64_t>& at(int table, const Sequence& sequence, std::size_t position) {
    m_hash.rows(table, std::span(sequence.classes).first(position + 1), m_rows.data());
    return m_rows;
  }

private:
  const EngramHash& m_hash;
  std::vector<std::int64_t> m_rows;
};

template <typename Numbers>
void printList(std::ostream& out, const Numbers& numbers, const char* separator) {
  bool isFirst = true;
  for (const auto number : numbers) {
    if (!isFirst) out << separator;
    isFirst = false;
    out << number;
  }
}

// Written as it is found: a long prompt has millions of rows.
void printJsonLine(std::ostream& out, const EngramTables& tables, const Sequence& sequence) {
  RowFinder finder(tables.hash);
  out << "{\"classes\":[";
  printList(out, sequence.classes, ",");
  out << "],\"rows\":{";
  for (std::size_t table = 0; table < tables.hash.tables.size(); ++table) {
    out << (table == 0 ? "\"" : ",\"") << tables.hash.tables[table].layer << "\":[";
    for (std::size_t position = 0; position < sequence.classes.size(); ++position) {
      out << (position == 0 ? "[" : ",[");
      printList(out, finder.at(static_cast<int>(table), sequence, position), ",");
      out << ']';
    }
    out << ']';
  }
  out << "}}\n";
}

void printText(std::ostream& out, const EngramTables& tables, const Sequence& sequence) {
  RowFinder finder(tables.hash);
  for (std::size_t position = 0; position < sequence.classes.size(); ++position) {
    out << "Position " << position << ": ";
    if (sequence.tokens[position] == kImagePosition) {
      out << "image, reads no rows\n";
      continue;
    }
    out << "token " << sequence.tokens[position] << ", class " << sequence.classes[position] << '\n';
    for (std::size_t table = 0; table < tables.hash.tables.size(); ++table) {
      out << "  layer " << tables.hash.tables[table].layer << ": ";
      printList(out, finder.at(static_cast<int>(table), sequence, position), " ");
      out << '\n';
    }
  }
}

Result<std::shared_ptr<const Tokenizer>> loadTokenizer(const std::filesystem::path& folder) {
  Result<std::shared_ptr<const Tokenizer>> tokenizer = Tokenizer::load(folder);
  // The tables beside config.json do as well; where these are missing, too, opening them says so.
  if (!tokenizer && tokenizer.status().id() == "tokenizer_missing") return std::shared_ptr<const Tokenizer>();
  return tokenizer;
}

Status engram(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(folder));
  if (!config.engram.present()) {
    return Status(Code::kUnavailable, "no_engram",
                  "This model has no n-gram tables; 'coli engram' is for DeepSeek V4.1 models.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const auto tokenizer, loadTokenizer(folder));
  COLIBRI_ASSIGN_OR_RETURN(const EngramTables tables,
                           openEngramTables(config, folder, tokenizer.get(), {}, {}, nullptr));
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<Sequence> sequences, readSequences(console, options.tokens, tables));
  bool isFirst = true;
  for (const Sequence& sequence : sequences) {
    if (json) {
      printJsonLine(console.out, tables, sequence);
      continue;
    }
    if (!isFirst) console.out << '\n';
    isFirst = false;
    printText(console.out, tables, sequence);
  }
  console.out.flush();
  return Status::ok();
}

}  // namespace

void addEngram(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "engram", "Rows of the n-gram tables that tokens read (DeepSeek V4.1), without weights")
      .model(options->model)
      .text("--tokens", options->tokens, "JSON file with an array of ids, or of such arrays; -1 is an image position",
            Need::kRequired)
      .json()
      .runs([options](Console& console, bool json) { return engram(console, *options, json); });
}

}  // namespace colibri

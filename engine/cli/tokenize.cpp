// coli tokenize, coli detokenize
#include "base/words.h"
#include "cli/commands.h"
#include <colibri/tokenizer.h>

#include <charconv>
#include <iostream>

namespace colibri {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

struct TokenizeOptions {
  std::string model;
  std::string text;
  std::string file;
  bool special = false;
  bool lines = false;
};

OrderedJson tokensJson(const Tokenizer& tokenizer, std::string_view text, bool special) {
  return {{"tokens", tokenizer.encode(text, special)}};
}

/// Each line of `text` is a JSON string; one line of output for each.
Status tokenizeLines(Console& console, const Tokenizer& tokenizer, std::string_view text, bool special) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string what = "Line " + std::to_string(++number);
    Result<Json> json = parseJson(line, what, "bad_line", {kMaxTextBytes, 1});
    if (!json || !json->is_string()) {
      return Status(Code::kUsage, "bad_line", what + " is no JSON string; --lines takes one on each line.");
    }
    console.out << jsonText(tokensJson(tokenizer, json->get_ref<const std::string&>(), special)) << '\n';
  }
  console.out.flush();
  return Status::ok();
}

Status tokenize(Console& console, const TokenizeOptions& options, bool json) {
  if (options.lines && options.file.empty()) {
    return Status(Code::kUsage, "usage", "--lines reads a file; give --file instead of --text.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  COLIBRI_ASSIGN_OR_RETURN(const auto tokenizer, Tokenizer::load(folder));
  std::string text = options.text;
  if (!options.file.empty()) {
    COLIBRI_ASSIGN_OR_RETURN(text, readInput(console, options.file, kMaxTextBytes));
  }
  if (options.lines) return tokenizeLines(console, *tokenizer, text, options.special);
  if (json) {
    printJson(console, tokensJson(*tokenizer, text, options.special));
    return Status::ok();
  }
  for (const TokenId id : tokenizer->encode(text, options.special)) {
    const std::string shown = jsonText(std::string(tokenizer->bytes(id)));
    console.out << id << '\t' << shown << '\n';
  }
  return Status::ok();
}

struct DetokenizeOptions {
  std::string model;
  std::string tokens;
};

Result<std::vector<TokenId>> parseTokens(const std::string& text) {
  std::vector<TokenId> ids;
  for (const std::string& word : splitWords(text, ", \t\n[]")) {
    TokenId id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) {
      return Status(Code::kUsage, "bad_tokens", "--tokens takes ids like 1,2,3; '" + word + "' is none.");
    }
    ids.push_back(id);
  }
  return ids;
}

Status detokenize(Console& console, const DetokenizeOptions& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<TokenId> ids, parseTokens(options.tokens));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  COLIBRI_ASSIGN_OR_RETURN(const auto tokenizer, Tokenizer::load(folder));
  const std::string text = tokenizer->decode(ids);
  if (json) {
    printJson(console, {{"text", text}});
  } else {
    console.out << text;
    if (console.outIsTerminal) console.out << '\n';
  }
  return Status::ok();
}

}  // namespace

void addTokenize(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<TokenizeOptions>();
  Command(root, invocation, "tokenize", "Text to token ids")
      .model(options->model)
      .text("--text", options->text, "The text itself")
      .text("--file", options->file, "A file with the text; - is standard input")
      .exactlyOne({"--text", "--file"})
      .flag("--special", options->special, "Recognise added tokens like <think> in the text")
      .flag("--lines", options->lines, "Each line of the file is a JSON string")
      .json()
      .runs([options](Console& console, bool json) { return tokenize(console, *options, json); });
}

void addDetokenize(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<DetokenizeOptions>();
  Command(root, invocation, "detokenize", "Token ids to text")
      .model(options->model)
      .text("--tokens", options->tokens, "Ids, for example 1,2,3", Need::kRequired)
      .json()
      .runs([options](Console& console, bool json) { return detokenize(console, *options, json); });
}

}  // namespace colibri

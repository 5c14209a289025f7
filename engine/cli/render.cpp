// coli render
#include "cli/commands.h"
#include <colibri/chat.h>
#include <colibri/tokenizer.h>

#include <iostream>

namespace colibri {
namespace {

constexpr std::size_t kMaxMessagesBytes = std::size_t{256} << 20;

struct Options {
  std::string model;
  std::string messages;
  std::string dialect = "auto";
  bool api = false;
};

Status render(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(std::optional<Dialect> dialect, parseDialect(options.dialect));
  COLIBRI_ASSIGN_OR_RETURN(const std::string request, readInput(console, options.messages, kMaxMessagesBytes));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  if (!dialect) {
    COLIBRI_ASSIGN_OR_RETURN(const DialectChoice choice, detectDialect(folder));
    dialect = choice.dialect;
    console.err << "dialect "
                << "abc"[static_cast<int>(choice.dialect)] << ": " << choice.reason << std::endl;
  }
  COLIBRI_ASSIGN_OR_RETURN(const Prompt prompt, renderPrompt(request, *dialect, options.api));
  if (!json) {
    console.out << prompt.text;
    return Status::ok();
  }
  COLIBRI_ASSIGN_OR_RETURN(const auto tokenizer, Tokenizer::load(folder));
  OrderedJson images = OrderedJson::array();
  for (const std::string& image : prompt.images) {
    OrderedJson record = OrderedJson::parse(image, nullptr, false);
    images.push_back(record.is_discarded() ? OrderedJson(image) : std::move(record));
  }
  printJson(console, {{"prompt", prompt.text}, {"tokens", tokenizer->encode(prompt.segments)}, {"images", images}});
  return Status::ok();
}

}  // namespace

void addRender(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "render", "Messages to the exact prompt")
      .model(options->model)
      .text("--messages", options->messages, "JSON file: {\"messages\":[...], ...} or a list; - is standard input",
            Need::kRequired)
      .flag("--api", options->api, "First do what a server does with messages from clients")
      .choice("--dialect", options->dialect, {"auto", "a", "b", "c"}, "Chat format of the model (default auto)")
      .json()
      .runs([options](Console& console, bool json) { return render(console, *options, json); });
}

}  // namespace colibri

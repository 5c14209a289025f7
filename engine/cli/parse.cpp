// coli parse
#include "cli/commands.h"
#include <colibri/chat.h>

#include <algorithm>
#include <iostream>

namespace colibri {
namespace {

constexpr std::int64_t kMaxCompletionBytes = std::int64_t{256} << 20;

struct Options {
  std::string model;
  std::string completion;
  bool thinking = false;
  std::int64_t feed = 0;
};

OrderedJson completionJson(const Completion& completion) {
  OrderedJson calls = OrderedJson::array();
  for (const ToolCall& call : completion.toolCalls) {
    calls.push_back(
        {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return {{"content", completion.content},
          {"reasoning_content", completion.reasoning},
          {"tool_calls", calls},
          {"finish", completion.finish}};
}

Status parse(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const std::string text,
                           readInput(console, options.completion, static_cast<std::size_t>(kMaxCompletionBytes)));
  if (!options.model.empty()) {
    std::error_code error;
    if (!std::filesystem::is_directory(options.model, error)) {
      return Status(Code::kCheckpoint, "missing_folder",
                    options.model + " is no folder; name the one that holds config.json.");
    }
  }
  CompletionParser parser(options.thinking);
  const std::size_t piece =
      options.feed == 0 ? std::max<std::size_t>(text.size(), 1) : static_cast<std::size_t>(options.feed);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    parser.push(std::string_view(text).substr(at, piece));
  }
  parser.finish(false);
  const Completion& completion = parser.completion();
  if (json) {
    printJson(console, completionJson(completion));
    return Status::ok();
  }
  if (!completion.reasoning.empty()) console.out << "[reasoning]\n" << completion.reasoning << "\n\n";
  console.out << completion.content << '\n';
  for (const ToolCall& call : completion.toolCalls) {
    console.out << "[call] " << call.name << ' ' << call.arguments << '\n';
  }
  return Status::ok();
}

}  // namespace

void addParse(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "parse", "Generated text to content, reasoning and tool calls")
      .model(options->model)
      .text("--completion", options->completion, "File with the generated text; - is standard input", Need::kRequired)
      .flag("--thinking", options->thinking, "The text begins inside the reasoning")
      .number("--feed", options->feed, 1, kMaxCompletionBytes,
              "Hand the text over this many bytes at a time; never changes the result")
      .json()
      .runs([options](Console& console, bool json) { return parse(console, *options, json); });
}

}  // namespace colibri

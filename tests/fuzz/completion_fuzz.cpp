// Generated text, with or without tool calls in DSML: any text is legal and the split into pieces does not matter.

#include "fuzz/require.h"
#include <colibri/chat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

colibri::Completion parse(std::string_view text, const colibri::CompletionOptions& options, bool truncated,
                          std::size_t piece) {
  colibri::CompletionParser parser(options);
  for (std::size_t start = 0; start < text.size(); start += piece) parser.push(text.substr(start, piece));
  parser.finish(truncated);
  return parser.completion();
}

bool sameCall(const colibri::ToolCall& a, const colibri::ToolCall& b) {
  return a.id == b.id && a.name == b.name && a.arguments == b.arguments;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace colibri;
  if (size < 2) return 0;
  CompletionOptions options;
  options.startsInReasoning = (data[0] & 1) != 0;
  options.toolsOffered = (data[0] & 2) == 0;
  const bool truncated = (data[0] & 4) != 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Completion whole = parse(text, options, truncated, std::max<std::size_t>(text.size(), 1));
  const Completion split = parse(text, options, truncated, data[1] % 7 + 1);
  fuzz::require(whole.content == split.content, "content does not depend on the pieces");
  fuzz::require(whole.reasoning == split.reasoning, "reasoning does not depend on the pieces");
  fuzz::require(whole.finish == split.finish, "the finish reason does not depend on the pieces");
  fuzz::require(std::equal(whole.toolCalls.begin(), whole.toolCalls.end(), split.toolCalls.begin(),
                           split.toolCalls.end(), sameCall),
                "calls do not depend on the pieces");
  return 0;
}

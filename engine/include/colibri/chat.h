#pragma once
// Messages to prompt and completion back to message: the vendor's chat encodings (dialects A, B: V4; C: V4.1).

#include <colibri/status.h>
#include <colibri/tokenizer.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

enum class Dialect { kA, kB, kC };

/// Which dialect a model folder speaks, and why (shown to the user).
struct DialectChoice {
  Dialect dialect = Dialect::kA;
  std::string reason;
};
/// Choice for a model folder (spec chat-encoding 1); needs config.json or tokenizer.json there, nothing else.
Result<DialectChoice> detectDialect(const std::filesystem::path& folder);
/// "a", "b", "c" or "auto" (nullopt).
Result<std::optional<Dialect>> parseDialect(std::string_view name);

/// A rendered prompt. Encoding `segments` gives the ids of `text` in template mode, except where a payload spells a
/// control token: that stays plain text.
struct Prompt {
  std::string text;                   ///< exact bytes
  std::vector<TextSegment> segments;  ///< the same, split for safe tokenisation
  std::vector<std::string> images;    ///< image records as JSON text, in prompt order
  bool startsInReasoning = false;     ///< ends in <think>
};

/// Renders a request as JSON text: {"messages":[…],"tools":…,"thinking":…,"reasoning_effort":…,"drop_thinking":…,…} or
/// a bare list of messages. Further options: "response_format", "add_generation_prompt", "add_bos"; thinking is on
/// unless it is switched off. `apiNormalisation`: first what a server does with a client's request (spec 11); without
/// it roles and values are taken as given. kUsage with the message's index when it is invalid.
Result<Prompt> renderPrompt(std::string_view requestJson, Dialect dialect, bool apiNormalisation = false);

/// A plain conversation, for callers that have no JSON.
struct ChatMessage {
  std::string role;  ///< "system", "user", "assistant"
  std::string content;
  std::string reasoning;  ///< assistant only
};
struct ChatOptions {
  bool thinking = false;
  std::string effort;  ///< "" (the dialect's default), "low", "high", "max" or "1".."100" (C)
};
/// The same normalisation as for a client's request. A last assistant message is continued.
Result<Prompt> renderPrompt(const std::vector<ChatMessage>& messages, const ChatOptions& options, Dialect dialect);

struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  ///< JSON text
};
struct Completion {
  std::string content;
  std::string reasoning;
  std::vector<ToolCall> toolCalls;
  std::string finish;  ///< "stop", "tool_calls" or "length"; "" before the end
  /// The markup (its first 64 KiB) when a block of calls began but no call could be read; for a log.
  std::string unreadMarkup;
};

/// What one piece of generated text added.
struct CompletionDelta {
  std::string content;
  std::string reasoning;
  std::vector<ToolCall> completedCalls;
};

/// How a completion is read.
struct CompletionOptions {
  bool startsInReasoning = false;
  /// False: markup of calls is ordinary text, without its mark.
  bool toolsOffered = true;
  /// The request's "tools" as JSON text, or "". Arguments whose form contradicts the declared type are then put right:
  /// a declared string stays a string; a declared number, boolean, list or object written as a string becomes one when
  /// it reads as one.
  std::string tools;
  /// Ids of calls are a function of this and of their number in the turn; give each turn its own.
  std::uint64_t idSeed = 0;
};

/// Incremental, tolerant parser of generated text (spec 10.3). Any text is legal; invalid UTF-8 becomes U+FFFD. The
/// result is the same for any split of the text. Time is linear in the text. For one thread.
class CompletionParser {
public:
  explicit CompletionParser(bool startsInReasoning);
  explicit CompletionParser(const CompletionOptions& options);
  ~CompletionParser();
  CompletionParser(CompletionParser&&) noexcept;
  CompletionParser& operator=(CompletionParser&&) noexcept;

  CompletionDelta push(std::string_view text);
  /// End of the text; `truncated`: the answer was cut (length, cancel), so an incomplete call is dropped.
  CompletionDelta finish(bool truncated);
  /// All so far.
  [[nodiscard]] const Completion& completion() const;
  /// True while the text being read is reasoning.
  [[nodiscard]] bool inReasoning() const;

private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace colibri

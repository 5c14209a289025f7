#pragma once
// From what the command line names to a prompt for a loaded model.

#include "cli/console.h"
#include <colibri/chat.h>
#include <colibri/image.h>
#include <colibri/settings.h>
#include <colibri/tokenizer.h>

#include <string>
#include <vector>

namespace colibri {

/// Exactly one of prompt, messages and tokens is given.
struct PromptSource {
  std::string prompt;
  std::string messages;             ///< a file
  std::string tokens;               ///< a file
  std::vector<std::string> images;  ///< files, with prompt or tokens; messages bring their own
};

struct TokenPrompt {
  std::vector<TokenId> tokens;      ///< one id for each image
  std::vector<ImagePixels> images;  ///< in order
  bool startsInReasoning = false;
};

/// The value of --think as the chat formats take it.
[[nodiscard]] ChatOptions chatOptions(const Settings& settings);

/// Renders and tokenises, and decodes the images. With a prompt they stand in front of its text. `tokenizer` may be
/// null for a file of tokens only.
Result<TokenPrompt> makePrompt(Console& console, const PromptSource& source, const Settings& settings,
                               const std::filesystem::path& model, const Tokenizer* tokenizer);

}  // namespace colibri

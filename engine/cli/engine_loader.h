#pragma once
// Opening an engine for a command: settings, the model's own context limit, a progress line.

#include "cli/console.h"
#include <colibri/engine.h>
#include <colibri/settings.h>

#include <memory>

namespace colibri {

struct LoadRequest {
  std::filesystem::path model;
  bool needTokenizer = true;
  bool recordSpans = false;
  int leastContext = 0;  ///< tokens that must fit when the user names no --ctx
};

/// Without --ctx the default context is used as far as the model allows. Errors as Engine::open.
Result<std::shared_ptr<Engine>> loadEngine(Console& console, const Settings& settings, const LoadRequest& request,
                                           const Cancellation& cancellation);

/// What went wrong without ending anything, a line each on standard error.
void printNotices(Console& console, const std::vector<std::string>& notices);

/// A JSON array of token ids. kUsage when it is anything else.
Result<std::vector<TokenId>> readTokens(Console& console, const std::filesystem::path& file);
/// The same from parsed JSON; `what` names it in the message.
Result<std::vector<TokenId>> tokensFromJson(const Json& json, const std::string& what);

}  // namespace colibri

#include "cli/engine_loader.h"

#include "base/units.h"
#include "checkpoint/model_config.h"
#include "cli/progress.h"

#include <algorithm>
#include <iostream>
#include <limits>

namespace colibri {

Result<std::shared_ptr<Engine>> loadEngine(Console& console, const Settings& settings, const LoadRequest& request,
                                           const Cancellation& cancellation) {
  EngineOptions options = settings.engineOptions(request.model);
  options.needTokenizer = request.needTokenizer;
  options.recordSpans = request.recordSpans;
  options.dataFolder = dataFolder(console.environment);
  if (!settings.isGiven(Setting::kCtx)) {
    COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(request.model));
    options.context = std::min(std::max(options.context, request.leastContext), std::max(config.maxPositions, 1));
  }
  ProgressLine line(console.err, console.errIsTerminal);
  const auto show = [&line](const LoadProgress& progress) {
    line.show("Loading " + decimalSize(static_cast<double>(progress.totalBytes)), progress.doneBytes,
              progress.totalBytes);
  };
  COLIBRI_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, Engine::open(options, show, cancellation));
  line.clear();
  printNotices(console, engine->takeNotices());
  return engine;
}

void printNotices(Console& console, const std::vector<std::string>& notices) {
  for (const std::string& notice : notices) console.err << "coli: " << notice << std::endl;
}

Result<std::vector<TokenId>> tokensFromJson(const Json& json, const std::string& what) {
  const Status wrong(Code::kUsage, "bad_tokens", what + " must be a JSON array of token ids, for example [0, 1, 2].");
  if (!json.is_array()) return wrong;
  std::vector<TokenId> tokens;
  tokens.reserve(json.size());
  for (const Json& id : json) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
        id.get<std::int64_t>() > std::numeric_limits<TokenId>::max()) {
      return wrong;
    }
    tokens.push_back(id.get<TokenId>());
  }
  return tokens;
}

Result<std::vector<TokenId>> readTokens(Console& console, const std::filesystem::path& file) {
  COLIBRI_ASSIGN_OR_RETURN(const Json json, readJsonInput(console, file, std::size_t{256} << 20));
  return tokensFromJson(json, file == "-" ? "Standard input" : file.string());
}

}  // namespace colibri

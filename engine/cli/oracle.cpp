// coli oracle
#include "checkpoint/model_config.h"
#include "cli/commands.h"
#include "cli/engine_loader.h"
#include "cli/images.h"
#include "cli/oracle_verdict.h"
#include "cli/progress.h"
#include "session/teacher_forcing.h"
#include <colibri/engine.h>
#include <colibri/session.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <utility>

namespace colibri {
namespace {

struct Options {
  std::string model;
  std::string oracle;
  GivenSettings given;
};

/// Values inside the prompt come from one prefill, those behind it from decoding the continuation token by token.
Result<std::vector<float>> forcedRows(Engine& engine, const ModelInput& prompt, const OracleCase& oracle,
                                      const Cancellation& cancellation) {
  ModelInput input = prompt;
  input.tokens.insert(input.tokens.end(), oracle.continuation.begin(), oracle.continuation.end());
  TeacherOptions teacher;
  teacher.via = TeacherOptions::Via::kSplit;
  teacher.split = static_cast<int>(prompt.tokens.size());
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<NamedTensor> tensors, computeLogits(engine, input, teacher, cancellation));
  std::vector<float> rows(tensors.front().data.size() / sizeof(float));
  std::memcpy(rows.data(), tensors.front().data.data(), tensors.front().data.size());
  return rows;
}

/// The engine's own greedy continuation; end-of-sentence is a token like any other.
Result<std::vector<TokenId>> greedyTokens(Engine& engine, const ModelInput& prompt, const OracleCase& oracle,
                                          const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(const auto session, engine.newSession());
  COLIBRI_RETURN_IF_ERROR(session->sync(prompt, cancellation));
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < oracle.continuation.size(); ++i) {
    const auto logits = session->logits();
    tokens.push_back(static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    if (i + 1 < oracle.continuation.size()) COLIBRI_RETURN_IF_ERROR(session->append(tokens.back(), cancellation));
  }
  return tokens;
}

/// `oracle.prompt` comes with one id for each image, and becomes the expanded prompt.
Status runCase(Engine& engine, OracleCase& oracle, const std::filesystem::path& folder, bool logprobs,
               const Cancellation& cancellation, OracleReport& report) {
  std::vector<ImagePixels> images;
  for (const std::string& name : oracle.images) {
    COLIBRI_ASSIGN_OR_RETURN(ImagePixels pixels, loadImage(folder / name));
    images.push_back(std::move(pixels));
  }
  COLIBRI_ASSIGN_OR_RETURN(const ModelInput prompt, modelInput(engine, oracle.prompt, images, cancellation));
  oracle.prompt = prompt.tokens;
  const std::size_t positions = oracle.prompt.size() + oracle.continuation.size();
  for (const OraclePosition& position : oracle.teacher) {
    if (static_cast<std::size_t>(position.position) < positions) continue;
    return Status(Code::kUsage, "bad_oracle",
                  "position " + std::to_string(position.position) + " lies behind the case's " +
                      std::to_string(positions) + " tokens.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<float> rows, forcedRows(engine, prompt, oracle, cancellation));
  OracleRun run;
  run.rows = rows;
  run.vocab = engine.model().vocabSize;
  // Where one rounding step may change a token, the engine's own path would leave the reference for good.
  if (oracle.greedy && !oracle.tolerance.argmaxMargin) {
    COLIBRI_ASSIGN_OR_RETURN(run.greedy, greedyTokens(engine, prompt, oracle, cancellation));
  }
  return judgeCase(oracle, logprobs, run, report);
}

OrderedJson reportJson(const OracleReport& report) {
  const double mean = report.values == 0 ? 0 : report.sumAbsDiff / static_cast<double>(report.values);
  OrderedJson json{{"cases", report.cases},
                   {"teacher_forced",
                    {{"positions", report.positions},
                     {"argmax_equal", report.argmaxEqual},
                     {"max_abs_diff", report.maxAbsDiff},
                     {"mean_abs_diff", mean}}},
                   {"greedy",
                    {{"cases", report.greedyCases},
                     {"token_equal", report.tokenEqual},
                     {"tokens", report.greedyTokens},
                     {"tokens_equal", report.greedyTokensEqual}}},
                   {"ok", report.ok}};
  if (report.first) {
    json["first_difference"] = {
        {"case", report.first->name}, {"position", report.first->position}, {"reason", report.first->reason}};
  }
  return json;
}

void printText(std::ostream& out, const OracleReport& report) {
  out << report.cases << " cases: best token equal at " << report.argmaxEqual << " of " << report.positions
      << " positions, largest difference " << report.maxAbsDiff << ", greedy tokens equal " << report.greedyTokensEqual
      << " of " << report.greedyTokens << '\n';
  if (report.first) {
    out << "First difference: case " << report.first->name << ", position " << report.first->position << ": "
        << report.first->reason << '\n';
  }
  out << (report.ok ? "ok\n" : "not ok\n");
}

Status oracle(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings, resolveSettings(console, options.given));
  for (const Setting named : {Setting::kNumerics, Setting::kIndexKeys}) {
    if (!settings.isGiven(named)) continue;
    const std::string flag = settingInfo(named).flag();
    return Status(Code::kUnavailable, "unavailable_" + std::string(settingInfo(named).name),
                  "The oracle file names the " + std::string(named == Setting::kNumerics ? "numerics" : "index keys") +
                      " of each case; leave " + flag + " out.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const Json content, readJsonInput(console, options.oracle, std::size_t{256} << 20));
  COLIBRI_ASSIGN_OR_RETURN(OracleFile file, parseOracle(content));
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(options.model));
  const std::filesystem::path folder = options.oracle == "-" ? "" : std::filesystem::path(options.oracle).parent_path();
  const Interrupts::Work work(console.interrupts);
  ProgressLine line(console.err, console.errIsTerminal);
  OracleReport report;
  std::size_t longest = 0;
  for (const OracleCase& entry : file.cases) {
    const std::size_t images = entry.images.size() * static_cast<std::size_t>(config.vision.maxImageTokens);
    longest = std::max(longest, entry.prompt.size() + images + entry.continuation.size());
  }
  std::uint64_t done = 0;
  // One engine for each profile and rule, so the weights are read as seldom as can be.
  constexpr std::pair<Numerics, IndexKeyRule> kIdentities[] = {{Numerics::kFp32, IndexKeyRule::kVendor},
                                                               {Numerics::kFp32, IndexKeyRule::kOwner},
                                                               {Numerics::kVendor, IndexKeyRule::kVendor},
                                                               {Numerics::kVendor, IndexKeyRule::kOwner}};
  for (const auto& [numerics, indexKeys] : kIdentities) {
    std::shared_ptr<Engine> engine;
    for (OracleCase& entry : file.cases) {
      if (entry.numerics != numerics || entry.indexKeys != indexKeys) continue;
      if (!engine) {
        Settings chosen = settings;
        chosen.assign(Setting::kNumerics, std::string(numerics == Numerics::kFp32 ? "fp32" : "vendor"),
                      SettingSource::kPlan);
        chosen.assign(Setting::kIndexKeys, std::string(indexKeys == IndexKeyRule::kOwner ? "owner" : "vendor"),
                      SettingSource::kPlan);
        LoadRequest load;
        load.model = options.model;
        load.needTokenizer = false;
        load.leastContext = static_cast<int>(longest);
        COLIBRI_ASSIGN_OR_RETURN(engine, loadEngine(console, chosen, load, work.cancellation()));
      }
      line.show("Case " + entry.name, done++, file.cases.size());
      const Status status = runCase(*engine, entry, folder, file.logprobs, work.cancellation(), report);
      if (!status.isOk()) return status.within("Case " + entry.name);
    }
  }
  judgePools(report);
  line.clear();
  if (json) {
    printJson(console, reportJson(report));
  } else {
    printText(console.out, report);
  }
  return report.ok ? Status::ok() : quietFindings();
}

}  // namespace

void addOracle(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "oracle", "Compare a model with reference tokens and values")
      .text("MODEL", options->model, "Folder with config.json", Need::kRequired)
      .text("ORACLE", options->oracle, "The oracle file", Need::kRequired)
      .settings(SettingScope::kEngine, options->given)
      .json()
      .runs([options](Console& console, bool json) { return oracle(console, *options, json); });
}

}  // namespace colibri

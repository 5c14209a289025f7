// coli oracle
#include "cli/commands.h"
#include "cli/engine_loader.h"
#include "cli/oracle_verdict.h"
#include "cli/progress.h"
#include "session/teacher_forcing.h"
#include <colibri/engine.h>
#include <colibri/session.h>

#include <algorithm>
#include <cstring>
#include <iostream>

namespace colibri {
namespace {

struct Options {
  std::string model;
  std::string oracle;
  GivenSettings given;
};

/// Values inside the prompt come from one prefill, those behind it from decoding the continuation token by token.
Result<std::vector<float>> forcedRows(Engine& engine, const OracleCase& oracle, const Cancellation& cancellation) {
  std::vector<TokenId> tokens = oracle.prompt;
  tokens.insert(tokens.end(), oracle.continuation.begin(), oracle.continuation.end());
  TeacherOptions teacher;
  teacher.via = TeacherOptions::Via::kSplit;
  teacher.split = static_cast<int>(oracle.prompt.size());
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<NamedTensor> tensors,
                           computeLogits(engine, tokens, teacher, cancellation));
  std::vector<float> rows(tensors.front().data.size() / sizeof(float));
  std::memcpy(rows.data(), tensors.front().data.data(), tensors.front().data.size());
  return rows;
}

/// The engine's own greedy continuation; end-of-sentence is a token like any other.
Result<std::vector<TokenId>> greedyTokens(Engine& engine, const OracleCase& oracle, const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(const auto session, engine.newSession());
  COLIBRI_RETURN_IF_ERROR(session->sync(oracle.prompt, cancellation));
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < oracle.continuation.size(); ++i) {
    const auto logits = session->logits();
    tokens.push_back(static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    if (i + 1 < oracle.continuation.size()) COLIBRI_RETURN_IF_ERROR(session->append(tokens.back(), cancellation));
  }
  return tokens;
}

Status runCase(Engine& engine, const OracleCase& oracle, bool logprobs, const Cancellation& cancellation,
               OracleReport& report) {
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<float> rows, forcedRows(engine, oracle, cancellation));
  OracleRun run;
  run.rows = rows;
  run.vocab = engine.model().vocabSize;
  // Where one rounding step may change a token, the engine's own path would leave the reference for good.
  if (oracle.greedy && !oracle.tolerance.argmaxMargin) {
    COLIBRI_ASSIGN_OR_RETURN(run.greedy, greedyTokens(engine, oracle, cancellation));
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
  if (settings.isGiven(Setting::kNumerics)) {
    return Status(Code::kUnavailable, "unavailable_numerics",
                  "The oracle file names the numerics of each case; leave --numerics out.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const Json content, readJsonInput(console, options.oracle, std::size_t{256} << 20));
  COLIBRI_ASSIGN_OR_RETURN(const OracleFile file, parseOracle(content));
  const Interrupts::Work work(console.interrupts);
  ProgressLine line(console.err, console.errIsTerminal);
  OracleReport report;
  std::size_t longest = 0;
  for (const OracleCase& entry : file.cases)
    longest = std::max(longest, entry.prompt.size() + entry.continuation.size());
  std::uint64_t done = 0;
  // One engine for each profile, so the weights are read at most twice.
  for (const Numerics numerics : {Numerics::kFp32, Numerics::kVendor}) {
    std::shared_ptr<Engine> engine;
    for (const OracleCase& entry : file.cases) {
      if (entry.numerics != numerics) continue;
      if (!engine) {
        Settings chosen = settings;
        chosen.assign(Setting::kNumerics, std::string(numerics == Numerics::kFp32 ? "fp32" : "vendor"),
                      SettingSource::kPlan);
        LoadRequest load;
        load.model = options.model;
        load.needTokenizer = false;
        load.leastContext = static_cast<int>(longest);
        COLIBRI_ASSIGN_OR_RETURN(engine, loadEngine(console, chosen, load, work.cancellation()));
      }
      line.show("Case " + entry.name, done++, file.cases.size());
      const Status status = runCase(*engine, entry, file.logprobs, work.cancellation(), report);
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

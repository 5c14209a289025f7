// coli bench
#include "base/units.h"
#include "bench/engram_bench.h"
#include "bench/io_bench.h"
#include "bench/turn_bench.h"
#include "checkpoint/model_config.h"
#include "cli/commands.h"
#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace colibri {
namespace {

struct Options {
  std::string model;
  GivenSettings given;
  std::string backend;
  std::int64_t maxTokens = 32;
  bool kernels = false;
  bool io = false;
  bool engram = false;
  bool turn = false;
  bool quick = false;
};

OrderedJson readJson(const char* name, const char* unit, const ReadFigure& figure) {
  OrderedJson json{{"name", name},
                   {"path", figure.path},
                   {"block_bytes", figure.blockBytes},
                   {"queue_depth", figure.queueDepth},
                   {"direct", figure.direct},
                   {"io", figure.io},
                   {"rounds", figure.rounds}};
  if (!figure.reason.empty()) json["reason"] = figure.reason;
  json[unit] = figure.rate;
  json[std::string("read_ceiling_") + unit] = figure.ceiling;
  json["ratio"] = figure.ratio;
  return json;
}

OrderedJson ioJson(const IoBenchReport& report) {
  OrderedJson list = OrderedJson::array();
  for (const ReadFigure& figure : report.experts) list.push_back(readJson("expert_reads", "bytes_per_s", figure));
  for (const ReadFigure& figure : report.smallReads) list.push_back(readJson("small_reads", "iops", figure));
  for (const InterferenceFigure& figure : report.interference) {
    list.push_back({{"name", "fp4_matvec_beside_reads"},
                    {"path", figure.path},
                    {"isa", figure.isa},
                    {"working_set_bytes", figure.workingSetBytes},
                    {"rounds", figure.rounds},
                    {"bytes_per_s", figure.besideBytesPerSecond},
                    {"alone_bytes_per_s", figure.aloneBytesPerSecond},
                    {"slowdown", figure.slowdown},
                    {"read_bytes_per_s", figure.readBytesPerSecond}});
  }
  return list;
}

OrderedJson engramJson(const EngramBenchReport& report) {
  OrderedJson list = OrderedJson::array();
  for (const EngramFigure& figure : report.tables) {
    OrderedJson json = readJson("row_reads", "iops", figure.reads);
    json["layer"] = figure.layer;
    json["rows_per_s"] = figure.rowsPerSecond;
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson turnJson(const TurnBenchReport& report, const TurnFigure& figure) {
  const ExpertUse& experts = figure.experts;
  const TimeSplit& split = figure.split;
  return {{"name", figure.name},
          {"budget_bytes", report.budgetBytes},
          {"expert_slots", report.expertSlots},
          {"experts", report.totalExperts},
          {"prompt_tokens", figure.promptTokens},
          {"decoded_tokens", figure.decodedTokens},
          {"prefill_s", figure.prefillSeconds},
          {"decode_s", figure.decodeSeconds},
          {"decode_tokens_per_s", figure.tokensPerSecond},
          {"requests", experts.requests},
          {"misses", experts.misses},
          {"compulsory_misses", experts.compulsoryMisses},
          {"bytes_missed", experts.bytesMissed},
          {"bytes_read", experts.bytesRead},
          {"bytes_read_over_missed", figure.readOverMissed},
          {"read_bytes_per_s", experts.readBytesPerSecond},
          {"read_ceiling_bytes_per_s", figure.ceiling},
          {"read_ratio", figure.ceiling > 0 ? experts.readBytesPerSecond / figure.ceiling : 0},
          {"busy_fraction", figure.busyFraction},
          {"disk_limit_s", figure.diskLimitSeconds},
          {"compute_s", figure.computeSeconds},
          {"compute_source", figure.computeMeasured ? "measured" : "estimated"},
          {"decode_over_limit", figure.wallOverLimit},
          {"split",
           {{"disk_wait_s", split.diskWaitSeconds},
            {"expert_s", split.expertSeconds},
            {"dense_s", split.denseSeconds},
            {"attention_s", split.attentionSeconds},
            {"other_s", split.otherSeconds}}},
          {"split_over_wall", figure.splitOverWall},
          {"predicted_tokens_per_s",
           figure.predictedTokensPerSecond > 0 ? OrderedJson(figure.predictedTokensPerSecond) : OrderedJson(nullptr)},
          {"memory_peak_bytes", report.memoryPeakBytes},
          {"anonymous_peak_bytes", report.anonymousPeakBytes}};
}

std::string rateText(double bytesPerSecond) {
  return decimalSize(bytesPerSecond) + "/s";
}

std::string percentText(double share) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100 * share << " %";
  return text.str();
}

void printIo(std::ostream& out, const IoBenchReport& report) {
  for (const ReadFigure& figure : report.experts) {
    out << "Expert reads     " << rateText(figure.rate) << ", bare loop " << rateText(figure.ceiling) << ": "
        << percentText(figure.ratio) << "  (" << figure.path << ", "
        << decimalSize(static_cast<double>(figure.blockBytes)) << " x " << figure.queueDepth << ", " << figure.io
        << (figure.direct ? ", direct)" : ", buffered)") << '\n';
    if (!figure.reason.empty()) out << "                 " << figure.reason << '\n';
  }
  for (const ReadFigure& figure : report.smallReads) {
    out << "4 KiB reads      " << std::llround(figure.rate) << " a second, bare loop " << std::llround(figure.ceiling)
        << ": " << percentText(figure.ratio) << '\n';
  }
  for (const InterferenceFigure& figure : report.interference) {
    out << "fp4 matvec       " << rateText(figure.aloneBytesPerSecond) << " alone, "
        << rateText(figure.besideBytesPerSecond) << " while the drive gives " << rateText(figure.readBytesPerSecond)
        << ": " << percentText(figure.slowdown) << " slower\n";
  }
}

void printEngram(std::ostream& out, const EngramBenchReport& report) {
  for (const EngramFigure& figure : report.tables) {
    out << "N-gram rows      " << std::llround(figure.rowsPerSecond) << " a second by "
        << std::llround(figure.reads.rate) << " reads, bare loop " << std::llround(figure.reads.ceiling) << ": "
        << percentText(figure.reads.ratio) << "  (table of layer " << figure.layer << ", 4 KiB x "
        << figure.reads.queueDepth << ", " << figure.reads.io << (figure.reads.direct ? ", direct)" : ", buffered)")
        << '\n';
  }
}

void printTurns(std::ostream& out, const TurnBenchReport& report) {
  out << "Turn             " << binarySize(report.budgetBytes) << " budget, " << report.expertSlots << " of "
      << report.totalExperts << " experts fit\n";
  for (const TurnFigure& figure : report.turns) {
    out << std::fixed << std::setprecision(2) << std::left << std::setw(17) << ("  " + figure.name) << std::right
        << figure.tokensPerSecond << " tokens/s, " << figure.decodeSeconds << " s for " << figure.decodedTokens
        << " tokens: " << figure.wallOverLimit << " x the limit (drive " << figure.diskLimitSeconds << " s, compute "
        << figure.computeSeconds << (figure.computeMeasured ? " s)" : " s estimated)") << '\n'
        << "                 " << figure.experts.misses << " of " << figure.experts.requests << " missed, read "
        << decimalSize(static_cast<double>(figure.experts.bytesRead)) << " at "
        << rateText(figure.experts.readBytesPerSecond) << " (bare loop " << rateText(figure.ceiling) << "), drive busy "
        << percentText(figure.busyFraction) << '\n'
        << "                 read / missed " << std::setprecision(4) << figure.readOverMissed << ", split / wall "
        << figure.splitOverWall;
    if (figure.predictedTokensPerSecond > 0) {
      out << std::setprecision(2) << ", predicted " << figure.predictedTokensPerSecond << " tokens/s";
    }
    out << '\n';
  }
}

Status checkWanted(const Options& options) {
  if (!options.kernels) return Status::ok();
  return Status(Code::kUnavailable, "unavailable_bench",
                "--kernels is not part of this version; --io, --engram and --turn are.");
}

/// Asked for by name, or with everything where the model has tables.
Result<bool> wantsEngram(const Options& options, bool everything, const std::filesystem::path& folder) {
  if (options.engram || !everything) return options.engram;
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(folder));
  return config.engram.present();
}

Status bench(Console& console, const Options& options, bool json) {
  COLIBRI_RETURN_IF_ERROR(checkWanted(options));
  GivenSettings given = options.given;
  if (!options.backend.empty()) given[Setting::kIo] = {options.backend};
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings, resolveSettings(console, given));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  const Interrupts::Work work(console.interrupts);
  EngineOptions engine = settings.engineOptions(folder);
  engine.needTokenizer = false;
  engine.dataFolder = dataFolder(console.environment);
  engine.recordUsage = false;  // a benchmark says nothing about how the model is used
  if (!settings.isGiven(Setting::kCtx)) {
    COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(folder));
    engine.context = std::min(engine.context, std::max(config.maxPositions, 1));
  }
  const bool everything = !options.io && !options.turn && !options.engram;
  OrderedJson report{{"kernels", OrderedJson::array()},
                     {"io", OrderedJson::array()},
                     {"engram", OrderedJson::array()},
                     {"turn", OrderedJson::array()}};
  std::vector<std::string> notices;
  if (options.io || everything) {
    COLIBRI_ASSIGN_OR_RETURN(const IoBenchReport io, benchIo({engine, options.quick}, work.cancellation()));
    report["io"] = ioJson(io);
    notices.insert(notices.end(), io.notices.begin(), io.notices.end());
    if (!json) printIo(console.out, io);
  }
  COLIBRI_ASSIGN_OR_RETURN(const bool engramWanted, wantsEngram(options, everything, folder));
  if (engramWanted) {
    COLIBRI_ASSIGN_OR_RETURN(const EngramBenchReport rows, benchEngram({engine, options.quick}, work.cancellation()));
    report["engram"] = engramJson(rows);
    notices.insert(notices.end(), rows.notices.begin(), rows.notices.end());
    if (!json) printEngram(console.out, rows);
  }
  if (options.turn || everything) {
    ProgressLine line(console.err, console.errIsTerminal);
    const auto show = [&line](const LoadProgress& progress) {
      line.show("Loading", progress.doneBytes, progress.totalBytes);
    };
    COLIBRI_ASSIGN_OR_RETURN(
        const TurnBenchReport turn,
        benchTurn({engine, static_cast<int>(options.maxTokens), options.quick}, show, work.cancellation()));
    line.clear();
    for (const TurnFigure& figure : turn.turns) report["turn"].push_back(turnJson(turn, figure));
    notices.insert(notices.end(), turn.notices.begin(), turn.notices.end());
    if (!json) printTurns(console.out, turn);
  }
  if (json) printJson(console, report);
  for (const std::string& notice : notices) console.err << "coli: " << notice << std::endl;
  return Status::ok();
}

}  // namespace

void addBench(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "bench", "Figures of this machine, each beside its limit measured in the same run")
      .model(options->model)
      .flag("--io", options->io, "Expert reads, small reads, and what they cost the processor")
      .flag("--turn", options->turn, "A real turn against the limits of drive and processor")
      .flag("--kernels", options->kernels, "Not part of this version")
      .flag("--engram", options->engram, "Rows of n-gram tables (DeepSeek V4.1)")
      .number("--max-tokens", options->maxTokens, 2, 100000, "Tokens that each turn generates")
      .flag("--quick", options->quick, "Measure for moments only: shows that it works, the figures mean little")
      .choice("--backend", options->backend, {"auto", "uring", "threads"},
              "How reads are handed to the system (--io elsewhere)")
      .settings(SettingScope::kEngine, options->given, Setting::kIo)
      .json()
      .runs([options](Console& console, bool json) { return bench(console, *options, json); });
}

}  // namespace colibri

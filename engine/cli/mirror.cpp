// coli mirror plan|stage|verify|remove
#include "base/units.h"
#include "base/words.h"
#include "cli/commands.h"
#include "cli/finding_output.h"
#include "cli/progress.h"
#include "plan/drive_memory.h"
#include <colibri/mirror.h>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <iostream>
#include <system_error>

namespace colibri {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;  // of sizes without a unit, as for --ram

struct Options {
  std::string model;
  std::string folder;
  std::string reserve;
  std::string max;
  std::string shards;
  std::vector<std::string> shardDirs;
  bool source = false;
};

std::string size(std::uint64_t bytes) {
  return decimalSize(static_cast<double>(bytes));
}

double coverage(const MirrorPlan& plan) {
  if (plan.expertBytes == 0) return 0;
  return static_cast<double>(plan.coveredExpertBytes) / static_cast<double>(plan.expertBytes);
}

/// What was measured earlier about the drive under `path`, or its nearest parent that is there.
std::optional<double> knownRate(const Console& console, std::filesystem::path path) {
  std::error_code error;
  path = std::filesystem::absolute(path, error);
  while (!std::filesystem::exists(path, error) && path != path.parent_path()) path = path.parent_path();
  const auto facts = knownDrive(dataFolder(console.environment), path);
  if (!facts || facts->bytesPerSecond <= 0) return std::nullopt;
  return facts->bytesPerSecond;
}

Result<MirrorOptions> mirrorOptions(const Console& console, const Options& options) {
  MirrorOptions how;
  how.shardDirs.assign(options.shardDirs.begin(), options.shardDirs.end());
  if (!options.reserve.empty()) {
    COLIBRI_ASSIGN_OR_RETURN(how.reserveBytes, parseSize(options.reserve, kGib));
  }
  if (!options.max.empty()) {
    COLIBRI_ASSIGN_OR_RETURN(how.maxBytes, parseSize(options.max, kGib));
  }
  how.shards = splitWords(options.shards, ",");
  if (how.shards.empty() && !options.shards.empty()) {
    return Status(Code::kUsage, "usage",
                  "--shards names no shard. Give file names, or numbers and ranges such as 1-12.");
  }
  how.modelBytesPerSecond = knownRate(console, options.model);
  how.mirrorBytesPerSecond = knownRate(console, options.folder);
  return how;
}

OrderedJson planJson(const MirrorPlan& plan) {
  OrderedJson shards = OrderedJson::array();
  for (const MirrorShard& shard : plan.shards) {
    OrderedJson json{{"name", shard.name},
                     {"bytes", shard.bytes},
                     {"expert_bytes", shard.expertBytes},
                     {"partial_bytes", shard.partialBytes},
                     {"state", mirrorStateName(shard.state)}};
    if (!shard.note.empty()) json["note"] = shard.note;
    shards.push_back(std::move(json));
  }
  return {{"model", plan.model.string()},
          {"folder", plan.folder.string()},
          {"model_id", plan.modelId},
          {"copy_bytes", plan.copyBytes},
          {"present_bytes", plan.presentBytes},
          {"free_bytes", plan.freeBytes},
          {"reserve_bytes", plan.reserveBytes},
          {"expert_bytes", plan.expertBytes},
          {"covered_expert_bytes", plan.coveredExpertBytes},
          {"coverage", coverage(plan)},
          {"rate_gain", plan.rateGain ? OrderedJson(*plan.rateGain) : OrderedJson()},
          {"warnings", plan.warnings},
          {"shards", std::move(shards)}};
}

void printPlan(std::ostream& out, const MirrorPlan& plan) {
  std::size_t planned = 0;
  std::size_t present = 0;
  for (const MirrorShard& shard : plan.shards) {
    planned += shard.state == MirrorState::kPlanned ? 1 : 0;
    present += shard.state == MirrorState::kPresent ? 1 : 0;
  }
  out << "Copies of " << plan.model.string() << " in " << plan.folder.string() << '\n'
      << "  to copy          " << planned << " of " << plan.shards.size() << " shards, " << size(plan.copyBytes) << '\n'
      << "  there already    " << present << ", " << size(plan.presentBytes) << '\n'
      << "  free             " << size(plan.freeBytes) << ", of which " << size(plan.reserveBytes) << " stay free\n"
      << "  experts covered  " << static_cast<int>(std::floor(coverage(plan) * 100)) << "%\n"
      << "  reading experts  ";
  if (plan.rateGain && *plan.rateGain <= 1) {
    out << "no faster than from the model's drive alone\n";
  } else if (plan.rateGain) {
    out << std::round(*plan.rateGain * 100) / 100 << " times as fast as from the model's drive alone\n";
  } else {
    out << "gain unknown until both drives are measured\n";
  }
}

void printWarnings(Console& console, const MirrorPlan& plan) {
  for (const std::string& warning : plan.warnings) console.err << "warning: " << warning << '\n';
}

Status plan(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const MirrorOptions how, mirrorOptions(console, options));
  COLIBRI_ASSIGN_OR_RETURN(const MirrorPlan plan, planMirror(options.model, options.folder, how));
  if (json) {
    printJson(console, planJson(plan));
  } else {
    printPlan(console.out, plan);
  }
  printWarnings(console, plan);
  return Status::ok();
}

/// {"event":"progress",…} at most twice a second, and a line on a terminal.
class ProgressPrinter {
public:
  ProgressPrinter(Console& console, bool json)
      : m_console(console), m_json(json), m_line(console.err, console.errIsTerminal) {}

  void show(const MirrorProgress& progress) {
    m_line.show((progress.checking ? "Checking " : "Copying ") + progress.shard, progress.doneBytes,
                progress.totalBytes);
    const auto now = std::chrono::steady_clock::now();
    if (!m_json || (m_shown && now - m_last < std::chrono::milliseconds(500))) return;
    m_shown = true;
    m_last = now;
    printJson(m_console, {{"event", "progress"},
                          {"shard", progress.shard},
                          {"checking", progress.checking},
                          {"done_bytes", progress.doneBytes},
                          {"total_bytes", progress.totalBytes}});
  }
  void clear() { m_line.clear(); }

private:
  Console& m_console;
  bool m_json;
  ProgressLine m_line;
  bool m_shown = false;
  std::chrono::steady_clock::time_point m_last{};
};

OrderedJson copiedJson(const MirrorCopied& shard) {
  return {{"event", "shard"},       {"name", shard.name},
          {"bytes", shard.bytes},   {"resumed_bytes", shard.resumedBytes},
          {"copied", shard.copied}, {"sha256", shard.sha256}};
}

void printCopied(std::ostream& out, const MirrorCopied& shard) {
  out << (shard.copied ? "Copied " : "Compared ") << shard.name << ", " << size(shard.bytes);
  if (shard.resumedBytes > 0) out << " (" << size(shard.resumedBytes) << " were there)";
  out << ", SHA-256 " << shard.sha256 << '\n' << std::flush;
}

Status stage(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const MirrorOptions how, mirrorOptions(console, options));
  const Interrupts::Work work(console.interrupts);
  ProgressPrinter progress(console, json);
  MirrorEvents events;
  events.planned = [&](const MirrorPlan& plan) {
    if (json) {
      OrderedJson event{{"event", "plan"}};
      event.update(planJson(plan));
      printJson(console, event);
    } else {
      printPlan(console.out, plan);
    }
    printWarnings(console, plan);
  };
  events.progress = [&](const MirrorProgress& state) { progress.show(state); };
  events.copied = [&](const MirrorCopied& shard) {
    progress.clear();
    if (json) {
      printJson(console, copiedJson(shard));
    } else {
      printCopied(console.out, shard);
    }
  };
  const auto staged = stageMirror(options.model, options.folder, how, events, work.cancellation());
  progress.clear();
  if (!staged) return staged.status();
  if (json) {
    printJson(console, {{"event", "done"},
                        {"shards", staged->shards.size()},
                        {"copied_bytes", staged->copiedBytes},
                        {"seconds", staged->seconds}});
  } else if (staged->shards.empty()) {
    console.out << "Nothing to do: every copy is there and in the receipt.\n";
  } else {
    console.out << "Done: " << size(staged->copiedBytes) << " written. Use the copies with --mirror " << options.folder
                << '\n';
  }
  return Status::ok();
}

Status verify(Console& console, const Options& options, bool json) {
  const Interrupts::Work work(console.interrupts);
  MirrorVerifyOptions how;
  how.shardDirs.assign(options.shardDirs.begin(), options.shardDirs.end());
  how.source = options.source;
  how.cancellation = work.cancellation();
  ProgressLine line(console.err, console.errIsTerminal);
  how.progress = [&](const MirrorProgress& state) {
    line.show("Reading " + size(state.totalBytes), state.doneBytes, state.totalBytes);
  };
  const auto result = verifyMirror(options.model, options.folder, how, [&](const Finding& finding) {
    line.clear();
    if (json) {
      printJson(console, findingJson(finding));
    } else {
      printFinding(console.out, finding);
    }
  });
  line.clear();
  if (!result) return result.status();
  if (json) {
    printJson(console, {{"summary",
                         {{"ok", result->ok},
                          {"errors", result->errors},
                          {"warnings", result->warnings},
                          {"copies", result->copies},
                          {"bytes", result->bytes},
                          {"seconds", result->seconds}}}});
  } else {
    console.out << (result->ok ? "Sound: " : "Not sound: ") << result->errors << " errors, " << result->warnings
                << " warnings in " << result->copies << " copies, " << size(result->bytes) << '\n';
  }
  return result->ok ? Status::ok() : quietFindings();
}

Status remove(Console& console, const Options& options, bool json) {
  const std::vector<std::filesystem::path> shardDirs(options.shardDirs.begin(), options.shardDirs.end());
  COLIBRI_ASSIGN_OR_RETURN(const MirrorRemoved removed, removeMirror(options.model, options.folder, shardDirs));
  if (json) {
    printJson(console, {{"freed_bytes", removed.freedBytes}, {"removed", removed.removed}, {"kept", removed.kept}});
  } else {
    console.out << "Deleted " << removed.removed.size() << " files, " << size(removed.freedBytes) << " freed.\n";
    for (const std::string& sentence : removed.kept) console.out << sentence << '\n';
  }
  return Status::ok();
}

using Action = Status (*)(Console&, const Options&, bool);

void addAction(CLI::App& mirror, Invocation& invocation, const char* name, const char* help, Action action) {
  auto options = std::make_shared<Options>();
  Command command(mirror, invocation, name, help);
  command.text("MODEL", options->model, "Folder with config.json", Need::kRequired)
      .text("DIR", options->folder, "Folder for the copies, on another drive", Need::kRequired)
      .list("--shard-dir", options->shardDirs, "Further folder with the model's shards (repeat for more)");
  if (action == plan || action == stage) {
    command.text("--reserve", options->reserve, "SIZE that stays free on the drive (default 1G)")
        .text("--max", options->max, "SIZE that the copies take at most, those already there included")
        .text("--shards", options->shards, "Shards to copy: names, numbers or ranges, as 1-12,20");
  }
  if (action == verify) command.flag("--source", options->source, "Also read the model's shards and compare");
  command.json().runs([options, action](Console& console, bool json) { return action(console, *options, json); });
}

}  // namespace

void addMirror(CLI::App& root, Invocation& invocation) {
  CLI::App* mirror = root.add_subcommand("mirror", "Copies of a model's shards on a second drive");
  mirror->require_subcommand(1);
  addAction(*mirror, invocation, "plan", "Which shards to copy, and what that gains; writes nothing", plan);
  addAction(*mirror, invocation, "stage", "Copy them, or go on after an interruption", stage);
  addAction(*mirror, invocation, "verify", "Read every copy and compare it with the receipt", verify);
  addAction(*mirror, invocation, "remove", "Delete the copies that were made", remove);
}

}  // namespace colibri

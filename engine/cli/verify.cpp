// coli verify
#include "base/units.h"
#include "cli/commands.h"
#include "cli/finding_output.h"
#include "cli/progress.h"
#include <colibri/checkpoint.h>

#include <iostream>

namespace colibri {
namespace {

struct Options {
  std::string model;
  std::string level = "headers";
  std::string manifest;
  std::vector<std::string> shardDirs;
};

OrderedJson summaryJson(const VerifySummary& summary, bool full) {
  OrderedJson json{{"ok", summary.ok},         {"errors", summary.errors},   {"warnings", summary.warnings},
                   {"shards", summary.shards}, {"tensors", summary.tensors}, {"seconds", summary.seconds}};
  if (full) json["hashes"] = summary.hashes;
  return {{"summary", json}};
}

Status verify(Console& console, const Options& options, bool json) {
  const bool full = options.level == "full";
  if (!options.manifest.empty() && !full) {
    return Status(Code::kUsage, "usage", "--manifest compares hashes, which only --level full computes.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  const Interrupts::Work work(console.interrupts);
  VerifyOptions how;
  how.level = full ? VerifyLevel::kFull : VerifyLevel::kHeaders;
  how.shardDirs.assign(options.shardDirs.begin(), options.shardDirs.end());
  how.cancellation = work.cancellation();
  if (!options.manifest.empty()) {
    COLIBRI_ASSIGN_OR_RETURN(how.manifest, readManifest(options.manifest));
  }
  ProgressLine line(console.err, console.errIsTerminal);
  how.progress = [&line](const VerifyProgress& progress) {
    line.show("Reading " + decimalSize(static_cast<double>(progress.totalBytes)), progress.doneBytes,
              progress.totalBytes);
  };
  Result<VerifySummary> summary = verifyCheckpoint(folder, how, [&](const Finding& finding) {
    line.clear();
    if (json) {
      printJson(console, findingJson(finding));
    } else {
      printFinding(console.out, finding);
    }
  });
  line.clear();
  if (!summary) return summary.status();
  if (json) {
    printJson(console, summaryJson(*summary, full));
  } else {
    console.out << (summary->ok ? "Sound: " : "Not sound: ") << summary->errors << " errors, " << summary->warnings
                << " warnings in " << summary->tensors << " tensors of " << summary->shards << " shards\n";
  }
  return summary->ok ? Status::ok() : quietFindings();
}

}  // namespace

void addVerify(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "verify", "Look for everything wrong in a checkpoint")
      .model(options->model)
      .choice("--level", options->level, {"headers", "full"},
              "headers: no tensor data; full: every byte (default headers)")
      .text("--manifest", options->manifest, "JSON file {\"shard\": \"SHA-256\"} to compare with (--level full)")
      .list("--shard-dir", options->shardDirs, "Further folder with shards (repeat for more)")
      .json()
      .runs([options](Console& console, bool json) { return verify(console, *options, json); });
}

}  // namespace colibri

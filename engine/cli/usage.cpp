// coli usage
#include "base/units.h"
#include "checkpoint/expert_layout.h"
#include "checkpoint/model_config.h"
#include "checkpoint/model_id.h"
#include "checkpoint/shard_set.h"
#include "cli/commands.h"
#include "store/expert_store.h"
#include "store/usage_history.h"

#include <array>
#include <iomanip>
#include <iostream>

namespace colibri {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string model;
  std::vector<std::string> shardDirs;
  bool forget = false;
  bool all = false;
};

struct RecordedModel {
  std::string id;
  std::size_t experts = 0;
  std::uint64_t slotBytes = 0;
};

Result<RecordedModel> readModel(const fs::path& folder, const std::vector<std::string>& shardDirs) {
  const std::vector<fs::path> folders(shardDirs.begin(), shardDirs.end());
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(folder));
  COLIBRI_ASSIGN_OR_RETURN(const auto shards, ShardSet::open(folder, folders));
  COLIBRI_ASSIGN_OR_RETURN(const ExpertLayout layout, ExpertLayout::build(config, *shards));
  RecordedModel facts;
  COLIBRI_ASSIGN_OR_RETURN(facts.id, modelIdOf(folder, *shards));
  for (int layer = 0; layer < layout.layers(); ++layer)
    facts.experts += static_cast<std::size_t>(layout.experts(layer));
  facts.slotBytes = ExpertStore::slotBytes(layout);
  return facts;
}

OrderedJson historyJson(const fs::path& folder, const RecordedModel& model, const fs::path& file,
                        const UsageHistory& history) {
  OrderedJson rates = OrderedJson::array();
  std::size_t before = 0;
  for (const double share : {0.05, 0.1, 0.25, 0.5, 1.0}) {
    const auto slots = std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(model.experts)));
    if (slots == before || history.recordedAccesses() == 0) continue;
    before = slots;
    rates.push_back({{"slots", slots}, {"bytes", slots * model.slotBytes}, {"hit_rate", history.hitRate(slots)}});
  }
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return {{"model", folder.string()},
          {"model_id", model.id},
          {"file", file.string()},
          {"file_bytes", error ? 0 : size},
          {"accesses", history.accesses()},
          {"decode_accesses", history.recordedAccesses()},
          {"experts", model.experts},
          {"experts_seen", history.expertsSeen()},
          {"first_touch_rate", history.firstTouchRate()},
          {"hit_rates", std::move(rates)},
          {"notice", history.notice()}};
}

void printText(std::ostream& out, const OrderedJson& usage) {
  const auto percent = [&out](double share) { out << std::fixed << std::setprecision(1) << 100 * share << " %"; };
  if (usage["accesses"] == 0) {
    out << "Nothing is recorded for this model.\n";
    return;
  }
  out << usage["accesses"] << " uses of experts, " << usage["decode_accesses"] << " of them by generated tokens\n"
      << usage["experts_seen"] << " of " << usage["experts"] << " experts were used\n";
  for (const OrderedJson& rate : usage["hit_rates"]) {
    out << "A cache of " << rate["slots"] << " experts (" << binarySize(rate["bytes"].get<std::uint64_t>())
        << ") would have held ";
    percent(rate["hit_rate"].get<double>());
    out << '\n';
  }
  if (usage["decode_accesses"] != 0) {
    percent(usage["first_touch_rate"].get<double>());
    out << " were the first use of an expert after a start, which no empty cache can hold\n";
  }
  out << "Kept in " << usage["file"].get<std::string>() << " (" << decimalSize(usage["file_bytes"].get<double>())
      << "); --forget deletes it\n";
}

Status forget(Console& console, const fs::path& data, const Options& options, bool json) {
  std::string id;
  if (!options.all) {
    COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
    COLIBRI_ASSIGN_OR_RETURN(const RecordedModel model, readModel(folder, options.shardDirs));
    id = model.id;
  }
  COLIBRI_RETURN_IF_ERROR(UsageHistory::forget(data, id));
  if (json) {
    printJson(console, {{"forgotten", options.all ? OrderedJson("all") : OrderedJson(id)}});
  } else {
    console.out << (options.all ? "What was recorded for all models is deleted.\n"
                                : "What was recorded for this model is deleted.\n");
  }
  return Status::ok();
}

Status usage(Console& console, const Options& options, bool json) {
  if (options.all && !(options.forget && options.model.empty())) {
    return Status(Code::kUsage, "usage", "--all goes with --forget and without a MODEL.");
  }
  if (options.forget && options.model.empty() && !options.all) {
    return Status(Code::kUsage, "usage", "Name the MODEL to forget, or say --all to forget every one.");
  }
  const fs::path data = dataFolder(console.environment);
  if (data.empty()) {
    return Status(Code::kUnavailable, "no_data_folder",
                  "No folder for recorded data is known, so nothing is recorded; set COLIBRI_DATA_DIR or HOME.");
  }
  if (options.forget) return forget(console, data, options, json);
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  COLIBRI_ASSIGN_OR_RETURN(const RecordedModel model, readModel(folder, options.shardDirs));
  COLIBRI_ASSIGN_OR_RETURN(const auto history, UsageHistory::load(data, model.id, model.experts));
  const OrderedJson report = historyJson(folder, model, UsageHistory::file(data, model.id), *history);
  if (!history->notice().empty()) console.err << "coli: " << history->notice() << std::endl;
  if (json) {
    printJson(console, report);
  } else {
    printText(console.out, report);
  }
  return Status::ok();
}

}  // namespace

void addUsage(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "usage", "What is remembered of how a model's experts were used")
      .model(options->model)
      .list("--shard-dir", options->shardDirs, "Further folder with shards (repeat for more)")
      .flag("--forget", options->forget, "Delete it")
      .flag("--all", options->all, "With --forget: of every model")
      .json()
      .runs([options](Console& console, bool json) { return usage(console, *options, json); });
}

}  // namespace colibri

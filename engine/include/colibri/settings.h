#pragma once
// The settings table: each setting once, with its resolved value and where that came from.

#include <colibri/engine.h>
#include <colibri/session.h>
#include <colibri/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace colibri {

/// One name for each row of the table engine/base/settings.def, in its order (checked when it is compiled).
enum class Setting : std::size_t {
  kRam,
  kCtx,
  kCacheExperts,
  kCap,
  kThreads,
  kIsa,
  kNumerics,
  kIndexKeys,
  kEngramRows,
  kMaxImageTokens,
  kKvPrefix,
  kPrefillChunk,
  kPrefillSegment,
  kDirect,
  kQueueDepth,
  kIo,
  kShardDir,
  kMirror,
  kDiskWeights,
  kPrefetch,
  kPreload,
  kUsage,
  kDrafts,
  kSeed,
  kMaxTokens,
  kTemperature,
  kTopP,
  kTopK,
  kMinP,
  kStop,
  kThink,
  kSystem,
  kIgnoreEos,
  kCount
};

enum class SettingType { kSize, kInteger, kNumber, kChoice, kSwitch, kFlag, kText, kList };
enum class SettingScope { kEngine, kAnswer };  ///< for every command that loads weights; for commands that answer
enum class SettingApplies { kLoad, kTurn };    ///< takes effect when a model is loaded; with the next answer

/// One row of the table. Everything is static text.
struct SettingInfo {
  Setting id = Setting::kCount;
  std::string_view name;  ///< "prefill_chunk": key in the configuration file
  SettingType type = SettingType::kText;
  std::string_view unit;
  std::string_view defaultText;  ///< "" = decided by the plan, or off
  double least = 0;
  double most = 0;
  std::string_view choices;      ///< words separated by '|'
  std::string_view environment;  ///< names separated by ' '
  SettingScope scope = SettingScope::kEngine;
  SettingApplies applies = SettingApplies::kLoad;
  std::string_view help;
  std::string_view refusal;  ///< why other values cannot take effect here

  /// "--prefill-chunk".
  [[nodiscard]] std::string flag() const;
};

/// All rows, in the order of the enum.
[[nodiscard]] std::span<const SettingInfo> settingsTable();
[[nodiscard]] const SettingInfo& settingInfo(Setting setting);
/// The row of a name ("ram"); nullptr when there is none.
[[nodiscard]] const SettingInfo* findSetting(std::string_view name);

/// bytes and whole numbers as integers, switches as bool; monostate: not set (planned or off).
using SettingValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;
enum class SettingSource { kDefault, kPlan, kFile, kEnvironment, kCommandLine };
/// "default", "plan", "file", "env", "cli".
[[nodiscard]] std::string_view settingSourceName(SettingSource source);

/// Reads a value as a user writes it. kUsage with a sentence when it is not legal; kUnavailable when it cannot take
/// effect here. `name` is what the user wrote in front of it ("--ram", "RAM_GB"). Lists: one element for each text.
Result<SettingValue> parseSetting(Setting setting, std::span<const std::string> texts, std::string_view name);

/// Names of the requirement documents and options that this version does not take, with what replaces them.
enum class NameStatus {
  kReplaced,   ///< another setting does it
  kNotNeeded,  ///< the design leaves nothing to choose
  kLater,      ///< belongs to a feature that this version does not have
  kBuild       ///< a build variable of other engines; not read when running
};
struct RetiredName {
  std::string_view name;  ///< "V4_LOADER_LANES" or "--mirror"
  NameStatus status = NameStatus::kReplaced;
  std::string_view neutral;   ///< values (separated by ' ') that ask for what happens anyway and are accepted
  std::string_view sentence;  ///< what to do instead, or why nothing is needed
};
[[nodiscard]] std::span<const RetiredName> retiredNames();
/// nullptr when the name is not among them.
[[nodiscard]] const RetiredName* findRetiredName(std::string_view name);
/// "replaced", "not needed", "later", "build".
[[nodiscard]] std::string_view nameStatusName(NameStatus status);

/// Value of an environment variable; nullopt when it is not set.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
/// The environment of this process.
[[nodiscard]] Environment processEnvironment();
/// The configuration file: colibri/settings.json in $XDG_CONFIG_HOME, else in ~/.config; empty when neither is known.
[[nodiscard]] std::filesystem::path settingsFile(const Environment& environment);

/// Where Colibri keeps what it learns (measured drives, usage history, predictions): $COLIBRI_DATA_DIR, else colibri/
/// in $XDG_DATA_HOME or ~/.local/share; empty when none is known.
[[nodiscard]] std::filesystem::path dataFolder(const Environment& environment);

/// Where values come from. Command line wins over environment, which wins over the file, which wins over the default.
struct SettingLayers {
  std::map<Setting, std::vector<std::string>> commandLine;
  Environment environment;     ///< empty: none
  std::filesystem::path file;  ///< empty or absent: none
};

/// Resolved values. Immutable after load but for assign(); not thread-safe while that is used.
class Settings {
public:
  /// All defaults.
  Settings();
  /// Resolves all layers for commands of `scopes`. kUsage / kUnavailable for a value, an unknown key of the file, or an
  /// environment name that cannot take effect. Settings of other scopes keep their defaults and their names are not
  /// read.
  static Result<Settings> load(const SettingLayers& layers, std::span<const SettingScope> scopes);

  [[nodiscard]] const SettingValue& value(Setting setting) const;
  [[nodiscard]] SettingSource source(Setting setting) const;
  /// What set it: an option, a variable, a file; empty for defaults.
  [[nodiscard]] const std::string& origin(Setting setting) const;
  /// True when the user chose it.
  [[nodiscard]] bool isGiven(Setting setting) const;
  /// Replaces a value, for example by what the plan decided.
  void assign(Setting setting, SettingValue value, SettingSource source, std::string origin = {});

  [[nodiscard]] std::optional<std::int64_t> integer(Setting setting) const;
  [[nodiscard]] double number(Setting setting) const;  ///< 0 when not set
  [[nodiscard]] bool isOn(Setting setting) const;
  [[nodiscard]] std::string text(Setting setting) const;  ///< "" when not set
  [[nodiscard]] std::vector<std::string> list(Setting setting) const;

  /// The engine's options for a model folder.
  [[nodiscard]] EngineOptions engineOptions(const std::filesystem::path& model) const;
  /// The sampler's and the answer's options (not startsInReasoning, which is the prompt's).
  [[nodiscard]] GenerateOptions generateOptions() const;
  /// Puts in what a plan decided wherever the user left the choice to it.
  void adoptPlan(const EnginePlan& plan);

private:
  struct Entry {
    SettingValue value;
    SettingSource source = SettingSource::kDefault;
    std::string origin;
  };
  std::vector<Entry> m_entries;
};

/// The reference page docs/settings.md, from the table.
[[nodiscard]] std::string settingsMarkdown();

}  // namespace colibri

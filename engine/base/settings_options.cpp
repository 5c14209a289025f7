// From resolved settings to the engine's option structs and back from a plan.
#include <colibri/settings.h>

namespace colibri {
namespace {

std::optional<std::uint64_t> unsignedOf(std::optional<std::int64_t> number) {
  return number ? std::optional<std::uint64_t>(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::optional<int> intOf(std::optional<std::int64_t> number) {
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

EngineOptions Settings::engineOptions(const std::filesystem::path& model) const {
  EngineOptions options;
  options.model = model;
  for (const std::string& folder : list(Setting::kShardDir)) options.shardDirs.emplace_back(folder);
  for (const std::string& folder : list(Setting::kMirror)) options.mirrors.emplace_back(folder);
  options.diskWeights = text(Setting::kDiskWeights);
  options.ramBytes = unsignedOf(integer(Setting::kRam));
  options.context = static_cast<int>(integer(Setting::kCtx).value_or(options.context));
  options.cacheExperts = unsignedOf(integer(Setting::kCacheExperts));
  options.cap = unsignedOf(integer(Setting::kCap));
  options.threads = intOf(integer(Setting::kThreads));
  const std::string isa = text(Setting::kIsa);
  options.isa = isa == "scalar"   ? Isa::kScalar
                : isa == "avx2"   ? Isa::kAvx2
                : isa == "avx512" ? Isa::kAvx512
                : isa == "neon"   ? Isa::kNeon
                                  : Isa::kAuto;
  options.numerics = text(Setting::kNumerics) == "fp32" ? Numerics::kFp32 : Numerics::kVendor;
  options.indexKeys = text(Setting::kIndexKeys) == "owner" ? IndexKeyRule::kOwner : IndexKeyRule::kVendor;
  options.engramRows = unsignedOf(integer(Setting::kEngramRows));
  options.maxImageTokens = intOf(integer(Setting::kMaxImageTokens));
  options.reuseGenerated = isOn(Setting::kKvPrefix);
  options.prefillChunk = intOf(integer(Setting::kPrefillChunk));
  options.prefillSegment = intOf(integer(Setting::kPrefillSegment));
  options.direct = isOn(Setting::kDirect);
  options.queueDepth = intOf(integer(Setting::kQueueDepth));
  const std::string io = text(Setting::kIo);
  options.io = io == "uring" ? IoChoice::kUring : io == "threads" ? IoChoice::kThreads : IoChoice::kAuto;
  options.prefetch = text(Setting::kPrefetch) == "auto";
  options.preload = isOn(Setting::kPreload);
  options.recordUsage = isOn(Setting::kUsage);
  return options;
}

GenerateOptions Settings::generateOptions() const {
  GenerateOptions options;
  options.maxTokens = integer(Setting::kMaxTokens).value_or(-1);
  options.sampling.temperature = number(Setting::kTemperature);
  options.sampling.topP = number(Setting::kTopP);
  options.sampling.topK = static_cast<int>(integer(Setting::kTopK).value_or(0));
  options.sampling.minP = number(Setting::kMinP);
  options.sampling.seed = static_cast<std::uint64_t>(integer(Setting::kSeed).value_or(0));
  options.stop = list(Setting::kStop);
  options.ignoreEos = isOn(Setting::kIgnoreEos);
  return options;
}

void Settings::adoptPlan(const EnginePlan& plan) {
  const auto adopt = [&](Setting setting, SettingValue value) {
    if (!isGiven(setting)) assign(setting, std::move(value), SettingSource::kPlan);
  };
  adopt(Setting::kRam, static_cast<std::int64_t>(plan.budgetBytes));
  if (!isGiven(Setting::kCap)) adopt(Setting::kCacheExperts, static_cast<std::int64_t>(plan.expertSlots));
  if (plan.threads > 0) adopt(Setting::kThreads, static_cast<std::int64_t>(plan.threads));
  if (plan.prefillChunk > 0) adopt(Setting::kPrefillChunk, static_cast<std::int64_t>(plan.prefillChunk));
  if (plan.prefillSegment > 0) adopt(Setting::kPrefillSegment, static_cast<std::int64_t>(plan.prefillSegment));
  if (plan.queueDepth > 0) adopt(Setting::kQueueDepth, static_cast<std::int64_t>(plan.queueDepth));
  // "avx512-vnni" is a variant of the choice "avx512".
  if (!plan.isa.empty()) adopt(Setting::kIsa, plan.isa.substr(0, plan.isa.find('-')));
  if (!plan.io.empty()) adopt(Setting::kIo, plan.io);
}

}  // namespace colibri

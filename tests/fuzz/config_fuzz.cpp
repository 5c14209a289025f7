// config.json: an answer for any text; a configuration that is accepted gives a layer plan of its own length.

#include "base/json.h"
#include "checkpoint/model_config.h"
#include "fuzz/require.h"
#include "model/layer_plan.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace colibri;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<Json> json = parseJson(text, "config.json", "config_invalid");
  if (!json) return 0;
  Result<ModelConfig> config = ModelConfig::fromJson(*json);
  if (!config) {
    fuzz::require(!config.status().message().empty(), "an error has a sentence");
    return 0;
  }
  const LayerPlan plan = LayerPlan::make(*config);
  fuzz::require(plan.layers.size() == static_cast<std::size_t>(config->layers), "each layer has a plan");
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const LayerSpec& spec = plan.layers[i];
    if (spec.ratio == 0) continue;
    fuzz::require(spec.kvSource >= 0 && spec.kvSource <= static_cast<int>(i), "compressed entries have an owner");
    const LayerSpec& owner = plan.layers[static_cast<std::size_t>(spec.kvSource)];
    fuzz::require(owner.ratio == spec.ratio && owner.owns(spec.kvSource), "an owner makes what is read");
    if (config->family == ModelFamily::kDeepSeekV41)
      fuzz::require(spec.indexSource >= spec.kvSource && spec.indexSource <= static_cast<int>(i), "entries are chosen");
  }
  return 0;
}

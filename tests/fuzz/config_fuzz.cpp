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
  if (config->supported().isOk()) {
    const LayerPlan plan = LayerPlan::make(*config);
    fuzz::require(plan.layers.size() >= static_cast<std::size_t>(config->layers), "each layer has a plan");
  }
  return 0;
}

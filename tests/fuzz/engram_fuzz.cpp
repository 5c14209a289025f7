// dsv41_engram.json: an answer for any text; tables that are accepted are the only ones that fit the configuration, and
// their own text gives them again.

#include "fuzz/require.h"
#include "session/engram_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

colibri::ModelConfig smallConfig() {
  colibri::ModelConfig config;
  config.family = colibri::ModelFamily::kDeepSeekV41;
  config.vocabSize = 8;
  config.engram.layers = {1, 4};
  config.engram.rows = {5 + 7 + 11 + 13, 17 + 19 + 23 + 29};
  config.engram.maxNgram = 3;
  config.engram.heads = 2;
  config.engram.headDim = 32;
  config.engram.primeStart = 4;
  config.engram.padToken = 2;
  config.engram.classes = 6;
  return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace colibri;
  static const ModelConfig config = smallConfig();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<EngramTables> tables = parseEngramTables(config, text, "dsv41_engram.json");
  if (!tables) {
    fuzz::require(!tables.status().message().empty(), "an error has a sentence");
    return 0;
  }
  fuzz::require(tables->classOf.size() == 8, "each token has a class");
  const auto [least, most] = std::minmax_element(tables->classOf.begin(), tables->classOf.end());
  fuzz::require(*least == 0 && *most == 5, "all classes are used");
  fuzz::require(tables->hash.tables.size() == 2, "each layer has a table");
  const Result<EngramTables> again = parseEngramTables(config, engramTablesJson(config, *tables), "again");
  fuzz::require(again.isOk() && *again == *tables, "the text of tables gives the tables");
  return 0;
}

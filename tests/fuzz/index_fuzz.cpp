// model.safetensors.index.json: an answer for any text; an accepted index names only plain files and no tensor twice.

#include "checkpoint/index_file.h"
#include "fuzz/require.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace colibri;
  const auto index = parseIndex(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!index) {
    fuzz::require(!index.status().message().empty(), "an error has a sentence");
    return 0;
  }
  for (const auto& file : index->files) fuzz::require(isPlainShardName(file), "only plain names");
  for (std::size_t i = 0; i < index->entries.size(); ++i) {
    fuzz::require(index->entries[i].file < index->files.size(), "each tensor has a file");
    fuzz::require(i == 0 || index->entries[i - 1].tensor < index->entries[i].tensor, "sorted, each name once");
  }
  return 0;
}

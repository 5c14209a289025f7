// Safetensors headers: whatever the bytes, an answer and no crash; what passes the checks lies inside the file.

#include "checkpoint/header.h"
#include "fuzz/require.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace colibri;
  if (size < 2) return 0;
  // The first two bytes are the length of the data that follows the header.
  const std::uint64_t dataBytes = std::uint64_t{data[0]} | std::uint64_t{data[1]} << 8;
  const std::string_view json(reinterpret_cast<const char*>(data) + 2, size - 2);
  Result<std::vector<TensorInfo>> tensors = parseHeader(json, "fuzz.safetensors");
  if (!tensors) {
    fuzz::require(!tensors.status().message().empty(), "an error has a sentence");
    return 0;
  }
  const std::uint64_t dataStart = 8 + json.size();
  int findings = 0;
  const bool sound = checkTiling(*tensors, "fuzz.safetensors", dataStart, dataStart + dataBytes,
                                 [&findings](const Finding&) { ++findings; });
  fuzz::require(sound == (findings == 0), "unsound exactly when something was reported");
  return 0;
}

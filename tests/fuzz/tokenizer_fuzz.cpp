// tokenizer.json: an answer for any text; a tokenizer that is accepted encodes any bytes and gives them back.

#include "fuzz/require.h"
#include <colibri/tokenizer.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace colibri;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = Tokenizer::parse(json);
  if (!tokenizer) {
    fuzz::require(!tokenizer.status().message().empty(), "an error has a sentence");
    return 0;
  }
  const std::string_view sample = json.substr(0, 512);
  for (const bool matchAdded : {false, true}) {
    const std::vector<TokenId> ids = (*tokenizer)->encode(sample, matchAdded);
    std::string bytes;
    for (const TokenId id : ids) bytes += (*tokenizer)->bytes(id);
    if (!matchAdded) fuzz::require(bytes == sample, "plain text comes back byte for byte");
    StreamingDetokenizer stream(**tokenizer);
    std::string text;
    for (const TokenId id : ids) text += stream.push(id);
    text += stream.finish();
    fuzz::require(text == (*tokenizer)->decode(ids), "streamed and whole text are the same");
  }
  return 0;
}

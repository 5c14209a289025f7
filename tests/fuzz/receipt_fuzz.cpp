// colibri-mirror.json: an answer for any text; an accepted receipt names only plain files, each once, and reads back as
// it was.

#include "checkpoint/index_file.h"
#include "checkpoint/mirror_receipt.h"
#include "fuzz/require.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace colibri;
  const auto receipt = parseReceipt(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!receipt) {
    fuzz::require(!receipt.status().message().empty(), "an error has a sentence");
    return 0;
  }
  for (std::size_t i = 0; i < receipt->entries.size(); ++i) {
    const ReceiptEntry& entry = receipt->entries[i];
    fuzz::require(isPlainShardName(entry.name), "only plain names");
    fuzz::require(entry.sha256.size() == 64, "whole digests");
    fuzz::require(i == 0 || receipt->entries[i - 1].name < entry.name, "sorted, each name once");
    fuzz::require(!receipt->hasPartial(entry.name), "finished or partial");
  }
  for (const std::string& name : receipt->partials) fuzz::require(isPlainShardName(name), "only plain names");
  const std::string text = receiptText(*receipt);
  const auto again = parseReceipt(text);
  fuzz::require(again.isOk() && receiptText(*again) == text, "what is written can be read");
  return 0;
}

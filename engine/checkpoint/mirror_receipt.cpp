#include "checkpoint/mirror_receipt.h"

#include "base/json.h"
#include "checkpoint/index_file.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/mirror_file.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <span>
#include <utility>

namespace colibri {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kMaxFiles = 10000;

Status damaged(const std::string& why) {
  return {Code::kCheckpoint, "receipt_damaged",
          std::string(kReceiptName) + " cannot be used: " + why +
              ". Delete it and run 'coli mirror stage' again: copies that are there are compared and kept."};
}

bool isDigest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string textOf(const Json& object, const char* key, std::size_t maxBytes) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_string()) return {};
  std::string text = at->get<std::string>();
  return text.size() <= maxBytes ? text : std::string();
}

Result<ReceiptEntry> entryOf(const Json& json) {
  if (!json.is_object()) return damaged("one of its shards is not an object");
  ReceiptEntry entry;
  entry.name = textOf(json, "name", 255);
  if (!isPlainShardName(entry.name)) return damaged(inQuotes(entry.name) + " is not a plain shard name");
  entry.sha256 = textOf(json, "sha256", 64);
  if (!isDigest(entry.sha256)) return damaged("the SHA-256 of " + inQuotes(entry.name) + " is not 64 hex digits");
  const auto bytes = json.find("bytes");
  if (bytes == json.end() || !bytes->is_number_unsigned()) {
    return damaged("the size of " + inQuotes(entry.name) + " is missing");
  }
  entry.bytes = bytes->get<std::uint64_t>();
  const auto modified = json.find("source_modified_ns");
  if (modified == json.end() || !modified->is_number_integer()) {
    return damaged("the source's time of " + inQuotes(entry.name) + " is missing");
  }
  entry.sourceModified = modified->get<std::int64_t>();
  entry.date = textOf(json, "date", 40);
  const auto copied = json.find("copied");
  if (copied == json.end() || !copied->is_boolean()) {
    return damaged("it does not say whether " + inQuotes(entry.name) + " was copied");
  }
  entry.copied = copied->get<bool>();
  return entry;
}

auto placeOf(std::vector<ReceiptEntry>& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const ReceiptEntry& entry, std::string_view wanted) { return entry.name < wanted; });
}

}  // namespace

const ReceiptEntry* MirrorReceipt::find(std::string_view name) const {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
  return at == entries.end() ? nullptr : &*at;
}

bool MirrorReceipt::hasPartial(std::string_view name) const {
  return std::find(partials.begin(), partials.end(), name) != partials.end();
}

void MirrorReceipt::enter(ReceiptEntry entry) {
  forget(entry.name);
  entries.insert(placeOf(entries, entry.name), std::move(entry));
}

void MirrorReceipt::enterPartial(const std::string& name) {
  forget(name);
  partials.insert(std::lower_bound(partials.begin(), partials.end(), name), name);
}

void MirrorReceipt::forget(std::string_view name) {
  std::erase_if(entries, [&](const ReceiptEntry& entry) { return entry.name == name; });
  std::erase(partials, name);
}

Result<MirrorReceipt> parseReceipt(std::string_view json) {
  const auto parsed = parseJson(json, kReceiptName, "receipt_damaged", {kMaxReceiptBytes, 8});
  if (!parsed) return damaged("it is not valid JSON");
  if (!parsed->is_object()) return damaged("it is not an object");
  const auto format = parsed->find("format");
  if (format == parsed->end() || !format->is_number_integer()) return damaged("its format is missing");
  if (*format != kFormat) return damaged("its format " + format->dump() + " is not known to this version");
  MirrorReceipt receipt;
  receipt.modelId = textOf(*parsed, "model_id", 64);
  if (receipt.modelId.empty()) return damaged("the model's id is missing");
  receipt.modelName = textOf(*parsed, "model", 4096);
  const auto shards = parsed->find("shards");
  const auto partials = parsed->find("partials");
  if (shards == parsed->end() || !shards->is_array() || shards->size() > kMaxFiles) {
    return damaged("its list of shards is missing");
  }
  std::set<std::string> names;
  for (const Json& item : *shards) {
    COLIBRI_ASSIGN_OR_RETURN(ReceiptEntry entry, entryOf(item));
    if (!names.insert(entry.name).second) return damaged(inQuotes(entry.name) + " stands twice");
    receipt.entries.push_back(std::move(entry));
  }
  if (partials == parsed->end() || !partials->is_array() || partials->size() > kMaxFiles) {
    return damaged("its list of partial copies is missing");
  }
  for (const Json& item : *partials) {
    const std::string name = item.is_string() ? item.get<std::string>() : std::string();
    if (!isPlainShardName(name)) return damaged(inQuotes(name) + " is not a plain shard name");
    if (!names.insert(name).second) return damaged(inQuotes(name) + " stands twice");
    receipt.partials.push_back(name);
  }
  std::sort(receipt.entries.begin(), receipt.entries.end(),
            [](const ReceiptEntry& a, const ReceiptEntry& b) { return a.name < b.name; });
  std::sort(receipt.partials.begin(), receipt.partials.end());
  return receipt;
}

std::string receiptText(const MirrorReceipt& receipt) {
  OrderedJson shards = OrderedJson::array();
  for (const ReceiptEntry& entry : receipt.entries) {
    shards.push_back({{"name", entry.name},
                      {"bytes", entry.bytes},
                      {"sha256", entry.sha256},
                      {"source_modified_ns", entry.sourceModified},
                      {"date", entry.date},
                      {"copied", entry.copied}});
  }
  const OrderedJson json{{"format", kFormat},
                         {"model_id", receipt.modelId},
                         {"model", receipt.modelName},
                         {"shards", std::move(shards)},
                         {"partials", receipt.partials}};
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<std::optional<MirrorReceipt>> loadReceipt(const std::filesystem::path& folder) {
  const auto text = readFile(folder / kReceiptName, kMaxReceiptBytes);
  if (!text) {
    if (text.status().id() == "missing_file") return std::optional<MirrorReceipt>();
    if (text.status().id() == "read_failed") return text.status();
    return damaged(text.status().id() == "not_a_file" ? "it is not a regular file" : "it is far too large");
  }
  COLIBRI_ASSIGN_OR_RETURN(MirrorReceipt receipt, parseReceipt(*text));
  return std::optional<MirrorReceipt>(std::move(receipt));
}

Status saveReceipt(const std::filesystem::path& folder, const MirrorReceipt& receipt) {
  const std::string text = receiptText(receipt);
  return replaceFile(folder, std::string(kReceiptName), std::as_bytes(std::span(text)));
}

std::string receiptDate() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32] = {};
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, size};
}

}  // namespace colibri

#pragma once
// colibri-mirror.json: what lies in a mirror folder and where it came from.

#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

inline constexpr std::string_view kReceiptName = "colibri-mirror.json";
inline constexpr std::size_t kMaxReceiptBytes = std::size_t{8} << 20;

/// One finished copy.
struct ReceiptEntry {
  std::string name;  ///< plain shard name
  std::uint64_t bytes = 0;
  std::string sha256;               ///< 64 lower-case hex digits
  std::int64_t sourceModified = 0;  ///< modification time of the original, nanoseconds since 1970
  std::string date;                 ///< when it was checked, "2026-01-31T12:00:00Z"
  bool copied = true;               ///< false: was there before, only compared
};

struct MirrorReceipt {
  std::string modelId;
  std::string modelName;              ///< the model's folder, for people
  std::vector<ReceiptEntry> entries;  ///< sorted by name, each once
  std::vector<std::string> partials;  ///< shards whose copy has begun; sorted

  [[nodiscard]] const ReceiptEntry* find(std::string_view name) const;
  [[nodiscard]] bool hasPartial(std::string_view name) const;
  /// Adds or replaces; the shard is no partial any more.
  void enter(ReceiptEntry entry);
  /// Adds; the shard is no finished copy any more.
  void enterPartial(const std::string& name);
  /// Forgets entry and partial of that name.
  void forget(std::string_view name);
};

/// Checks everything: format, names that cannot leave the folder, digests. kCheckpoint "receipt_damaged", a sentence.
Result<MirrorReceipt> parseReceipt(std::string_view json);
[[nodiscard]] std::string receiptText(const MirrorReceipt& receipt);

/// The folder's receipt; nothing when there is none. kCheckpoint "receipt_damaged"; kIo.
Result<std::optional<MirrorReceipt>> loadReceipt(const std::filesystem::path& folder);
/// Replaces the folder's receipt in one step: after a crash it is the old or the new one. kIo "disk_full",
/// "write_failed".
Status saveReceipt(const std::filesystem::path& folder, const MirrorReceipt& receipt);

/// Now, as ReceiptEntry::date.
[[nodiscard]] std::string receiptDate();

}  // namespace colibri

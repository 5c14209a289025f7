#pragma once
// Copies of a checkpoint's shards on a second drive: planned, made, verified and taken away again. `coli mirror` and
// the app. A folder with copies ("mirror folder") holds shards under their own names and a receipt,
// colibri-mirror.json, that says which files were copied, from what, and their SHA-256.

#include <colibri/cancellation.h>
#include <colibri/checkpoint.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

/// Left free on the mirror's drive unless told otherwise.
inline constexpr std::uint64_t kMirrorReserveBytes = std::uint64_t{1} << 30;

/// Which shards to copy and how much room to leave.
struct MirrorOptions {
  std::vector<std::filesystem::path> shardDirs;  ///< further folders with the model's shards
  std::uint64_t reserveBytes = kMirrorReserveBytes;
  std::optional<std::uint64_t> maxBytes;  ///< the copies take at most this much in all, those already there included
  /// Shards to copy, whether they earn it or not: file names, numbers ("7") or ranges ("3-12") in the order of the
  /// names. Empty: chosen by what they earn. When chosen ones do not all fit, stageMirror() refuses.
  std::vector<std::string> shards;
  /// Rates of the two drives at the size of an expert, where they are known.
  std::optional<double> modelBytesPerSecond;
  std::optional<double> mirrorBytesPerSecond;
};

enum class MirrorState {
  kPresent,    ///< a copy with the right size and header is there
  kPlanned,    ///< to be copied
  kNoRoom,     ///< would earn a copy, but there is no room (free space, reserve or maxBytes)
  kNoExperts,  ///< holds no routed experts, so a copy would never be read
  kNotChosen,  ///< not among MirrorOptions::shards
  kConflict    ///< another file stands under its name; it is never overwritten
};
/// "present", "planned", "no_room", "no_experts", "not_chosen", "conflict".
[[nodiscard]] const char* mirrorStateName(MirrorState state);

struct MirrorShard {
  std::string name;
  std::uint64_t bytes = 0;         ///< of the file
  std::uint64_t expertBytes = 0;   ///< of routed experts in it
  std::uint64_t partialBytes = 0;  ///< already copied of a planned shard by a copy that was interrupted
  MirrorState state = MirrorState::kPlanned;
  std::string note;  ///< for kConflict: why the file is no copy, a clause; otherwise empty
};

struct MirrorPlan {
  std::filesystem::path model;
  std::filesystem::path folder;
  std::string modelId;
  std::vector<MirrorShard> shards;  ///< those with the most expert bytes first
  std::uint64_t copyBytes = 0;      ///< still to be written: planned shards less what is there of them
  std::uint64_t presentBytes = 0;   ///< copies that are there already
  std::uint64_t freeBytes = 0;      ///< on the mirror's file system now
  std::uint64_t reserveBytes = 0;
  std::uint64_t expertBytes = 0;         ///< of all shards
  std::uint64_t coveredExpertBytes = 0;  ///< once the planned copies are made
  /// Rate of reading experts from both drives over that of the model's drive alone; absent when a rate is unknown, 1
  /// when they are one drive.
  /// While x of each byte is read from the mirror, which holds the share s: max over x <= s of
  /// 1 / max((1 - x) / model, x / mirror), divided by the model's rate.
  std::optional<double> rateGain;
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Reads headers only; writes nothing. `folder` need not exist. Blocking; any thread. Errors: those of a checkpoint
/// that cannot be opened; kUsage "bad_mirror_folder" (a file, the model's own folder or inside it), "unknown_shard",
/// "mirror_other_model" (the folder holds copies of another model).
Result<MirrorPlan> planMirror(const std::filesystem::path& model, const std::filesystem::path& folder,
                              const MirrorOptions& options);

struct MirrorProgress {
  std::string shard;
  bool checking = false;  ///< reading back what was written, or a copy that was there before
  std::uint64_t doneBytes = 0;
  std::uint64_t totalBytes = 0;  ///< each byte counts twice: written and read back
};

/// A copy that is complete and checked.
struct MirrorCopied {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t resumedBytes = 0;  ///< taken over from an interrupted copy after comparing them
  bool copied = true;              ///< false: was there before and has been compared
  std::string sha256;
};

/// Called on the calling thread.
struct MirrorEvents {
  std::function<void(const MirrorPlan&)> planned;  ///< once, before anything is written
  std::function<void(const MirrorProgress&)> progress;
  std::function<void(const MirrorCopied&)> copied;
};

struct MirrorStaged {
  std::uint64_t copiedBytes = 0;  ///< written now
  std::vector<MirrorCopied> shards;
  double seconds = 0;
};

/// Copies what planMirror() plans: each shard to NAME.partial, read back and compared by SHA-256, then renamed and
/// entered in the receipt. What an interrupted call left is compared with the model and continued. The model's folder
/// is only read. Blocking; any thread; one call per folder at a time. Errors beside those of planMirror(): kUsage
/// "mirror_conflict" (a file that is no copy stands in the way), "mirror_busy", "mirror_useless" (nothing to copy
/// holds experts); kIo "disk_full", "file_too_large", "write_failed", "read_failed", "copy_differs" (read back other
/// bytes than written); kCheckpoint "receipt_damaged"; kCancelled. After any error the finished copies stay valid and a
/// further call continues.
Result<MirrorStaged> stageMirror(const std::filesystem::path& model, const std::filesystem::path& folder,
                                 const MirrorOptions& options, const MirrorEvents& events = {},
                                 const Cancellation& cancellation = {});

struct MirrorVerifyOptions {
  std::vector<std::filesystem::path> shardDirs;
  bool source = false;                                  ///< also read the model's shards and compare
  Cancellation cancellation;                            ///< seen within one read of 8 MiB
  std::function<void(const MirrorProgress&)> progress;  ///< on the calling thread
};

struct MirrorVerified {
  bool ok = false;  ///< no error finding
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  std::uint64_t copies = 0;  ///< files read to their end
  std::uint64_t bytes = 0;   ///< of them
  double seconds = 0;
};

/// Reads every copy and compares its SHA-256 with the receipt. Codes of findings: receipt_missing, receipt_damaged,
/// receipt_other_model, replica_missing, replica_refused (size or header), replica_unread, hash_mismatch,
/// replica_unlisted (a copy that the receipt does not name and that was not compared with the model), source_changed,
/// leftover_partial (a warning). Errors: those of a checkpoint that cannot be opened, kUsage "mirror_missing",
/// "bad_mirror_folder", kCancelled.
Result<MirrorVerified> verifyMirror(const std::filesystem::path& model, const std::filesystem::path& folder,
                                    const MirrorVerifyOptions& options,
                                    const std::function<void(const Finding&)>& onFinding);

struct MirrorRemoved {
  std::uint64_t freedBytes = 0;
  std::vector<std::string> removed;  ///< file names
  std::vector<std::string> kept;     ///< files that stay, with the reason, one sentence each
};

/// Deletes the copies that stageMirror() made and their leftovers, as the receipt names them, then the receipt. Files
/// that were there before, and anything that is no longer a plain file, stay. Errors: kUsage "mirror_missing",
/// "bad_mirror_folder", "mirror_no_receipt", "mirror_other_model", "mirror_busy"; kCheckpoint "receipt_damaged"; kIo
/// "remove_failed" (the receipt then names what is left).
Result<MirrorRemoved> removeMirror(const std::filesystem::path& model, const std::filesystem::path& folder,
                                   const std::vector<std::filesystem::path>& shardDirs = {});

}  // namespace colibri

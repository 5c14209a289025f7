#pragma once
// What the user's own turns asked of the experts, remembered from run to run. It says where experts are best placed and
// what hit rate to expect; it never has a part in a result.

#include "store/reuse_curve.h"
#include <colibri/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// Uses count half after this many accesses for each expert of the model: 64 x 11,008 accesses of V4 Flash, about 2,700
/// decoded tokens.
inline constexpr double kUsageHalfLifePerExpert = 64;
/// More experts than this are not recorded (the largest model has 16,512).
inline constexpr std::size_t kMostRecordedExperts = std::size_t{1} << 20;

/// Use of each expert of one model, by flat index: layers one after another, in each its experts in order.
/// used() and everything that is not marked otherwise belong to one owner thread.
class UsageHistory {
public:
  /// Empty. `experts` beyond kMostRecordedExperts are ignored.
  explicit UsageHistory(std::size_t experts);

  /// What dataFolder/usage holds for this model. A file that is absent, damaged, from another version or for another
  /// number of experts gives an empty history; notice() says so where that is news. An empty folder: an empty history.
  /// Errors: kUsage when the id is not one of modelIdOf() or `experts` is more than kMostRecordedExperts.
  static Result<std::unique_ptr<UsageHistory>> load(const std::filesystem::path& dataFolder, std::string_view modelId,
                                                    std::size_t experts);
  /// Writes to a new file and puts it in place of the old one in one step; a reader sees either. An empty folder:
  /// nothing is done. kIo, kUsage as load(). Two programs that save: the later one wins.
  Status save(const std::filesystem::path& dataFolder, std::string_view modelId) const;
  /// Deletes what is recorded for one model, or for all when `modelId` is empty; ok when there is nothing. kIo, kUsage.
  static Status forget(const std::filesystem::path& dataFolder, std::string_view modelId);
  /// Where save() writes.
  [[nodiscard]] static std::filesystem::path file(const std::filesystem::path& dataFolder, std::string_view modelId);

  /// One expert asked for by one layer's step. `decode`: by a generated token; those make the curve, while experts of
  /// a prompt only move in the LRU order. O(log experts), no allocation. Unknown indices are ignored.
  void used(std::size_t flatExpert, bool decode);

  /// Each expert's decayed uses as 0 (never) to 255: 24 x log2(1 + uses), rounded up. Any thread.
  [[nodiscard]] std::vector<std::uint8_t> heat() const;
  /// Decayed uses. Any thread.
  [[nodiscard]] double uses(std::size_t flatExpert) const;
  /// At most `count` flat indices, most used first, ties by index; experts never used are not among them. Any thread.
  [[nodiscard]] std::vector<std::uint32_t> hottest(std::size_t count) const;
  /// Experts used at least once. Any thread.
  [[nodiscard]] std::size_t expertsSeen() const;

  /// Hit rate of decode that an LRU cache of so many slots would have had, first touches being misses.
  [[nodiscard]] double hitRate(std::uint64_t slots) const { return m_curve.hitRate(slots); }
  /// Share of accesses that were the first of their expert in a run of the program.
  [[nodiscard]] double firstTouchRate() const { return m_curve.firstTouchRate(); }
  /// Decode accesses ever recorded, also those that have decayed since.
  [[nodiscard]] std::uint64_t recordedAccesses() const { return m_recorded; }
  /// All accesses ever recorded, prompts included. Any thread.
  [[nodiscard]] std::uint64_t accesses() const { return m_now.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t experts() const { return m_uses.size(); }
  /// Why load() could not use a file that was there, as a sentence; else empty.
  [[nodiscard]] const std::string& notice() const { return m_notice; }

private:
  /// Uses at the time of the last one; later times follow by halving. Two relaxed atomics: a reader between them sees
  /// one expert's heat slightly off, which nothing depends on.
  struct Use {
    std::atomic<float> uses{0};
    std::atomic<std::uint64_t> at{0};
  };
  [[nodiscard]] double usesAt(const Use& use, std::uint64_t now) const;
  [[nodiscard]] std::string encode() const;
  /// Empty when taken, else why not.
  std::string decode(std::string_view bytes);

  std::vector<Use> m_uses;
  double m_halfLife = 1;
  std::atomic<std::uint64_t> m_now{0};
  std::uint64_t m_recorded = 0;
  ReuseCurve m_curve;
  std::string m_notice;
};

}  // namespace colibri

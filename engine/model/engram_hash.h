#pragma once
// Which rows of the n-gram tables a token reads: a pure function of the last few token classes (spec deepseek-v41 3.9).

#include "checkpoint/model_config.h"
#include <colibri/status.h>

#include <cstdint>
#include <span>
#include <vector>

namespace colibri {

/// Class of an image position: it and everything before it is out of sight for n-grams.
inline constexpr std::int32_t kDeadClass = -1;

/// Constants of the hashes. A plain value, immutable in use; safe to share between threads.
struct EngramHash {
  struct Table {
    int layer = 0;                           ///< that reads it
    std::vector<std::int64_t> primes;        ///< [columns] rows that the column's hash spreads over
    std::vector<std::int64_t> offsets;       ///< [columns] first row of the column
    std::vector<std::uint64_t> multipliers;  ///< [maxNgram] by distance to the last token; odd

    friend bool operator==(const Table&, const Table&) = default;
  };
  std::vector<Table> tables;  ///< in the order of EngramConfig::layers
  int maxNgram = 0;
  int heads = 0;
  std::int32_t padClass = 0;  ///< stands for what is missing before the first token

  /// Rows of one table that one token reads. Column (n - 2) * heads + head belongs to n-grams of n tokens.
  [[nodiscard]] int columns() const { return (maxNgram - 1) * heads; }

  /// Derives the constants. `padClass`: the class of config.padToken. kCheckpoint "config_invalid" when numbers are
  /// impossible or the primes of a table do not add up to its rows.
  static Result<EngramHash> make(const EngramConfig& config, std::int32_t padClass);

  /// Rows that the LAST of `classes` reads from `table`, to out[columns()]. `classes`: those of the sequence up to that
  /// token, newest last, of which the last maxNgram are looked at; kDeadClass for image positions. Each row lies in its
  /// table when all classes are below EngramConfig::classes.
  void rows(int table, std::span<const std::int32_t> classes, std::int64_t* out) const;

  friend bool operator==(const EngramHash&, const EngramHash&) = default;
};

}  // namespace colibri

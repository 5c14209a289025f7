#pragma once
// Small shards with n-gram tables at odd places, and what their rows are worth by plain arithmetic.

#include "engine/io/fault_backend.h"
#include "engine/io/test_files.h"
#include "store/engram_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace colibri::testing {

/// Value of a code by the format's definition, without the engine's own conversion.
inline double e4m3Value(std::uint8_t code) {
  const int exponent = code >> 3 & 15;
  const int mantissa = code & 7;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(1 + static_cast<double>(mantissa) / 8, exponent - 7);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

class EngramFiles {
public:
  /// Two tables: the first has codes and scales in one shard, the second in two. No row holds a NaN.
  explicit EngramFiles(int dim, std::int64_t rows = 300) {
    const auto codes = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(dim);
    const std::uint64_t scales = codes / kEngramScaleBlock;
    m_tables.push_back({1, rows, dim, {0, 1001, codes}, {0, 1001 + codes, scales}});
    m_tables.push_back({14, rows, dim, {1, 8, codes}, {0, 1001 + codes + scales + 77, scales}});
    m_images.push_back(patternBytes(3, m_tables[1].scales.offset + scales));
    m_images.push_back(patternBytes(4, 8 + codes));
    for (const EngramTable& table : m_tables) {
      for (std::uint64_t i = 0; i < codes; ++i) {
        std::byte& code = m_images[table.codes.shard][table.codes.offset + i];
        if ((code & std::byte{0x7f}) == std::byte{0x7f}) code = std::byte{0x7e};
      }
      for (std::uint64_t i = 0; i < scales; ++i) {
        std::byte& scale = m_images[table.scales.shard][table.scales.offset + i];
        scale = static_cast<std::byte>(static_cast<unsigned>(scale) % 240U);
      }
    }
    write();
  }

  /// Puts the images, as a test has changed them, into the files.
  void write() {
    m_paths.clear();
    for (std::size_t i = 0; i < m_images.size(); ++i) {
      m_paths.push_back(m_folder.path() / ("shard" + std::to_string(i)));
      writeBytes(m_paths.back(), m_images[i]);
    }
  }
  std::byte& code(std::size_t table, std::int64_t row, int at) {
    const EngramTable& t = m_tables[table];
    return m_images[t.codes.shard][t.codes.offset + static_cast<std::uint64_t>(row * t.dim + at)];
  }
  std::byte& scale(std::size_t table, std::int64_t row, int block) {
    const EngramTable& t = m_tables[table];
    return m_images[t.scales.shard]
                   [t.scales.offset + static_cast<std::uint64_t>(row * (t.dim / kEngramScaleBlock) + block)];
  }

  [[nodiscard]] std::unique_ptr<EngramStore> store(std::uint64_t sectors, const std::shared_ptr<FaultControl>& control,
                                                   bool residentScales = false, ReadOptions options = {},
                                                   const std::shared_ptr<Ledger>& ledger = nullptr) const {
    auto backend = openReadBackend(m_paths, options);
    EXPECT_TRUE(backend.isOk()) << backend.status().message();
    auto store = EngramStore::create(m_tables, std::make_unique<FaultBackend>(std::move(backend).value(), control),
                                     {EngramStore::bytesForSectors(m_tables[0].dim, sectors), residentScales}, ledger);
    EXPECT_TRUE(store.isOk()) << store.status().message();
    EXPECT_EQ((*store)->sectors(), sectors);
    return std::move(store).value();
  }

  [[nodiscard]] float expected(std::size_t table, std::int64_t row, int at) {
    const auto code8 = static_cast<std::uint8_t>(code(table, row, at));
    const int exponent = static_cast<int>(scale(table, row, at / kEngramScaleBlock)) - 127;
    return static_cast<float>(std::ldexp(e4m3Value(code8), exponent));
  }

  [[nodiscard]] const std::vector<EngramTable>& tables() const { return m_tables; }
  [[nodiscard]] const std::vector<std::filesystem::path>& paths() const { return m_paths; }

private:
  TemporaryFolder m_folder;
  std::vector<EngramTable> m_tables;
  std::vector<std::vector<std::byte>> m_images;
  std::vector<std::filesystem::path> m_paths;
};

}  // namespace colibri::testing

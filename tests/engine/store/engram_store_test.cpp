// Rows of n-gram tables: exact values with any cache, one read a sector, faults, cancellation, counters.

#include "store/engram_store.h"

#include "engine/store/engram_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <random>
#include <set>
#include <thread>
#include <tuple>

namespace colibri {
namespace {

using ::testing::AllOf;
using testing::byteAt;
using testing::EngramFiles;
using testing::Fault;
using testing::FaultControl;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::shared_ptr<FaultControl> control() {
  return std::make_shared<FaultControl>();
}

/// Gathers and compares every value by its bits.
void expectRows(EngramFiles& files, EngramStore& store, int table, const std::vector<std::int64_t>& rows) {
  const int dim = store.tables()[static_cast<std::size_t>(table)].dim;
  std::vector<float> values(rows.size() * static_cast<std::size_t>(dim), -1.0F);
  const Status status = store.gather(table, rows, values.data(), {});
  ASSERT_TRUE(status.isOk()) << status.message();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (int at = 0; at < dim; ++at) {
      const float value = values[i * static_cast<std::size_t>(dim) + static_cast<std::size_t>(at)];
      const float expected = files.expected(static_cast<std::size_t>(table), rows[i], at);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(expected))
          << "table " << table << " row " << rows[i] << " value " << at << ": " << value << " for " << expected;
    }
  }
}

std::uint64_t askedBytes(const FaultControl& control) {
  std::uint64_t bytes = 0;
  for (const ReadRequest& request : control.log) bytes += request.bytes;
  return bytes;
}

class EngramCaches : public ::testing::TestWithParam<std::tuple<int, int, IoKind, bool>> {};

TEST_P(EngramCaches, TheSameBitsWithAnyCache) {
  const auto [sectors, dim, kind, resident] = GetParam();
  EngramFiles files(dim);
  const auto faults = control();
  faults->longestDelay = 5;
  const auto store = files.store(static_cast<std::uint64_t>(sectors), faults, resident, {kind, true, 32});
  const std::size_t loads = faults->log.size();
  std::mt19937_64 random(7);
  std::uint64_t rowsAsked = 0;
  for (int step = 0; step < 25; ++step) {
    const int table = step % 2;
    std::vector<std::int64_t> rows(1 + random() % (dim > 1000 ? 6 : 60));
    for (std::int64_t& row : rows) row = static_cast<std::int64_t>(random() % 300);
    if (step % 3 == 0) rows.insert(rows.end(), rows.begin(), rows.begin() + 1);
    if (step % 4 == 1) store->request(table, rows, ReadPriority::kCertain);
    if (step % 4 == 2) store->request(1 - table, rows, ReadPriority::kPredicted);
    store->poll();
    expectRows(files, *store, table, rows);
    rowsAsked += rows.size();
  }
  const EngramStoreStats stats = store->stats();
  EXPECT_EQ(stats.rows, rowsAsked);
  EXPECT_LE(stats.rowHits, stats.rows);
  EXPECT_EQ(stats.bytesRead, askedBytes(*faults));
  EXPECT_EQ(stats.reads, faults->log.size());
  EXPECT_EQ(loads, resident ? 2U : 0U);
}

std::string cacheName(const ::testing::TestParamInfo<EngramCaches::ParamType>& info) {
  const auto [sectors, dim, kind, resident] = info.param;
  return "Sectors" + std::to_string(sectors) + "Dim" + std::to_string(dim) +
         (kind == IoKind::kThreads ? "Threads" : "Auto") + (resident ? "ResidentScales" : "");
}

// Rows of 32 values have one scale; those of 8192 straddle two or three sectors.
INSTANTIATE_TEST_SUITE_P(Grid, EngramCaches,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5, 36), ::testing::Values(256, 8192),
                                            ::testing::Values(IoKind::kAuto, IoKind::kThreads), ::testing::Bool()),
                         cacheName);
INSTANTIATE_TEST_SUITE_P(NarrowRows, EngramCaches,
                         ::testing::Combine(::testing::Values(1, 2, 5), ::testing::Values(32),
                                            ::testing::Values(IoKind::kAuto), ::testing::Values(false)),
                         cacheName);

TEST(EngramStore, RowsOfACheckpoint) {
  const std::filesystem::path folder = std::filesystem::path(COLIBRI_GOLDEN_DIR) / "v41" / "text" / "checkpoint";
  const auto config = ModelConfig::load(folder);
  ASSERT_TRUE(config.isOk()) << config.status().message();
  const auto shards = ShardSet::open(folder);
  ASSERT_TRUE(shards.isOk()) << shards.status().message();
  const auto tables = engramTables(*config, **shards);
  ASSERT_TRUE(tables.isOk()) << tables.status().message();
  ASSERT_EQ(tables->size(), 2U);
  std::vector<std::filesystem::path> paths;
  for (const Shard& shard : (*shards)->shards()) paths.push_back(shard.path);
  auto backend = openReadBackend(paths, {});
  ASSERT_TRUE(backend.isOk());
  const auto store =
      EngramStore::create(*tables, std::move(backend).value(), {EngramStore::bytesForSectors(32, 4)}, nullptr);
  ASSERT_TRUE(store.isOk()) << store.status().message();
  for (int table = 0; table < 2; ++table) {
    const EngramTable& place = (*tables)[static_cast<std::size_t>(table)];
    EXPECT_EQ(place.layer, table == 0 ? 1 : 4);
    ASSERT_EQ(place.rows, table == 0 ? 1524 : 2304);
    ASSERT_EQ(place.dim, 32);
    std::vector<std::int64_t> rows;
    for (std::int64_t row = place.rows - 1; row >= 0; row -= 3) rows.push_back(row);
    std::vector<float> values(rows.size() * 32);
    ASSERT_TRUE((*store)->gather(table, rows, values.data(), {}).isOk());
    std::ifstream codes(paths[place.codes.shard], std::ios::binary);
    std::ifstream scales(paths[place.scales.shard], std::ios::binary);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::array<char, 32> code{};
      codes.seekg(static_cast<std::streamoff>(place.codes.offset) + rows[i] * 32);
      codes.read(code.data(), code.size());
      scales.seekg(static_cast<std::streamoff>(place.scales.offset) + rows[i]);
      const int exponent = scales.get() - 127;
      for (std::size_t at = 0; at < 32; ++at) {
        const double expected = std::ldexp(testing::e4m3Value(static_cast<std::uint8_t>(code[at])), exponent);
        ASSERT_EQ(values[i * 32 + at], static_cast<float>(expected)) << "row " << rows[i];
      }
    }
  }
}

TEST(EngramStore, EverythingIsReadOnce) {
  EngramFiles files(256);
  const auto faults = control();
  const auto store = files.store(40, faults);
  std::vector<std::int64_t> all(300);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  all.insert(all.end(), all.begin(), all.end());
  expectRows(files, *store, 0, all);
  std::set<std::uint64_t> sectors;
  for (const ReadRequest& request : faults->log) {
    for (std::uint64_t at = 0; at < request.bytes; at += kEngramSectorBytes)
      EXPECT_TRUE(sectors.insert(request.offset + at).second) << "byte " << request.offset + at << " was read twice";
  }
  // Neighbours are one read: the codes and the scales behind them are one run.
  EXPECT_EQ(faults->log.size(), 1U);
  const EngramStoreStats first = store->stats();
  EXPECT_EQ(first.rows, 600U);
  EXPECT_EQ(first.bytesRead, sectors.size() * kEngramSectorBytes);
  EXPECT_EQ(first.rows - first.rowHits, sectors.size() - 1);  // one row brought both its codes' sector and its scales'
  expectRows(files, *store, 0, all);
  EXPECT_EQ(store->stats().bytesRead, first.bytesRead);
  EXPECT_EQ(store->stats().rowHits, first.rowHits + 600);
}

TEST(EngramStore, ARowCostsItsSectorsAlone) {
  EngramFiles files(256, 3000);
  const auto faults = control();
  const auto store = files.store(300, faults);
  std::mt19937_64 random(3);
  for (int step = 0; step < 50; ++step) {
    const auto row = static_cast<std::int64_t>(random() % 3000);
    const std::uint64_t before = store->stats().bytesRead;
    expectRows(files, *store, 1, {row});
    // 256 bytes touch two sectors at most, and so do 8.
    EXPECT_LE(store->stats().bytesRead - before, 4 * kEngramSectorBytes);
  }
}

TEST(EngramStore, AStraddlingRowIsOneRead) {
  EngramFiles files(256);
  const auto faults = control();
  const auto store = files.store(8, faults, /*residentScales=*/true);
  faults->log.clear();
  // The second table's codes begin at byte 8, so row 15 ends behind the first sector.
  expectRows(files, *store, 1, {15});
  ASSERT_EQ(faults->log.size(), 1U);
  EXPECT_EQ(faults->log[0].offset, 0U);
  EXPECT_EQ(faults->log[0].bytes, 2 * kEngramSectorBytes);
}

TEST(EngramStore, WhatWasRequestedIsNotReadAgain) {
  EngramFiles files(256);
  const auto faults = control();
  const auto store = files.store(12, faults);
  const std::vector<std::int64_t> ahead{5, 100, 200, 100};
  store->request(0, ahead, ReadPriority::kCertain);
  const std::size_t reads = faults->log.size();
  EXPECT_GT(reads, 0U);
  for (const ReadRequest& request : faults->log) EXPECT_EQ(request.priority, ReadPriority::kCertain);
  store->request(0, ahead, ReadPriority::kCertain);
  EXPECT_EQ(faults->log.size(), reads);
  // Others want the cache meanwhile, more than it holds; what was requested stays.
  for (std::int64_t row = 0; row < 300; row += 12) expectRows(files, *store, 1, {row});
  faults->log.clear();
  const EngramStoreStats before = store->stats();
  expectRows(files, *store, 0, ahead);
  EXPECT_TRUE(faults->log.empty());
  // Rows that were read ahead are no hits; the repeated one is.
  EXPECT_EQ(store->stats().rows - before.rows, 4U);
  EXPECT_EQ(store->stats().rowHits - before.rowHits, 1U);
}

TEST(EngramStore, GatherHurriesWhatIsOnItsWay) {
  EngramFiles files(256);
  const auto faults = control();
  faults->longestDelay = 20;
  const auto store = files.store(12, faults);
  store->request(0, std::vector<std::int64_t>{7, 250}, ReadPriority::kPredicted);
  const std::size_t reads = faults->log.size();
  expectRows(files, *store, 0, {250, 7});
  EXPECT_EQ(faults->log.size(), reads);
  std::set<std::uint64_t> tags;
  for (const ReadRequest& request : faults->log) tags.insert(request.tag);
  EXPECT_EQ(std::set<std::uint64_t>(faults->promoted.begin(), faults->promoted.end()), tags);
}

TEST(EngramStore, RequestsStopWhereTheCacheEnds) {
  EngramFiles files(256, 2000);
  const auto faults = control();
  const auto store = files.store(9, faults);
  std::vector<std::int64_t> many;
  for (std::int64_t row = 0; row < 2000; row += 20) many.push_back(row);
  store->request(0, many, ReadPriority::kCertain);
  EXPECT_EQ(askedBytes(*faults), 9 * kEngramSectorBytes);
  store->request(1, many, ReadPriority::kCertain);
  EXPECT_EQ(askedBytes(*faults), 9 * kEngramSectorBytes);
  expectRows(files, *store, 0, many);
  expectRows(files, *store, 1, many);
  // Requests that nobody ever gathers do not block the cache for good.
  store->request(1, many, ReadPriority::kCertain);
  for (int step = 0; step < 20; ++step) expectRows(files, *store, 0, std::vector<std::int64_t>(20, step * 100));
  faults->log.clear();
  store->request(0, std::vector<std::int64_t>{1234}, ReadPriority::kCertain);
  EXPECT_FALSE(faults->log.empty());
  // Rows that do not exist are left out.
  faults->log.clear();
  store->request(0, std::vector<std::int64_t>{-1, 2000, std::numeric_limits<std::int64_t>::max()},
                 ReadPriority::kCertain);
  store->request(2, std::vector<std::int64_t>{1}, ReadPriority::kCertain);
  EXPECT_TRUE(faults->log.empty());
}

TEST(EngramStore, AllOfAGatherIsSubmittedAtOnce) {
  EngramFiles files(256, 3000);
  const auto faults = control();
  faults->stalled = true;
  const auto store = files.store(300, faults);
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < 3000; row += 50) rows.push_back(row);
  std::vector<float> values(rows.size() * 256);
  const Cancellation cancellation;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancellation.cancel();
  });
  const Status status = store->gather(0, rows, values.data(), cancellation);
  other.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_GE(store->backend().inFlight(), 32U);
  // What was under way arrives all the same, and is used.
  faults->stalled = false;
  const std::size_t reads = faults->log.size();
  expectRows(files, *store, 0, rows);
  EXPECT_EQ(faults->log.size(), reads);
}

TEST(EngramStore, BadRowsAreRefusedBeforeAnythingIsRead) {
  EngramFiles files(256);
  const auto faults = control();
  const auto store = files.store(12, faults);
  std::vector<float> values(3 * 256);
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{300}, std::numeric_limits<std::int64_t>::min()}) {
    const Status status = store->gather(1, std::vector<std::int64_t>{5, bad, 6}, values.data(), {});
    EXPECT_EQ(status.code(), Code::kInternal);
    EXPECT_THAT(status.message(), AllOf(HasSubstr(std::to_string(bad)), HasSubstr("layer 14")));
  }
  EXPECT_FALSE(store->gather(2, std::vector<std::int64_t>{5}, values.data(), {}).isOk());
  EXPECT_FALSE(store->gather(-1, std::vector<std::int64_t>{5}, values.data(), {}).isOk());
  EXPECT_TRUE(faults->log.empty());
  EXPECT_EQ(store->stats().rows, 0U);
  EXPECT_TRUE(store->gather(0, {}, nullptr, {}).isOk());
}

TEST(EngramStore, ValuesThatAreNoNumbersNameTheirRow) {
  EngramFiles files(256);
  files.code(0, 17, 200) = std::byte{0x7f};
  files.code(1, 3, 0) = std::byte{0xff};
  files.scale(1, 40, 7) = std::byte{0xff};
  files.scale(0, 41, 3) = std::byte{254};
  files.code(0, 41, 96) = std::byte{0x7e};  // 448 x 2^127
  files.write();
  const auto store = files.store(20, control());
  std::vector<float> values(2 * 256);
  const auto messageOf = [&](int table, std::int64_t row) {
    const Status status = store->gather(table, std::vector<std::int64_t>{row - 1, row}, values.data(), {});
    EXPECT_EQ(status.code(), Code::kCheckpoint);
    EXPECT_EQ(status.id(), "bad_value");
    return status.message();
  };
  EXPECT_THAT(messageOf(0, 17), AllOf(HasSubstr("Row 17 "), HasSubstr("layer 1 ")));
  EXPECT_THAT(messageOf(1, 3), AllOf(HasSubstr("Row 3 "), HasSubstr("layer 14 ")));
  EXPECT_THAT(messageOf(1, 40), HasSubstr("Row 40 "));
  EXPECT_THAT(messageOf(0, 41), HasSubstr("Row 41 "));
  expectRows(files, *store, 1, {4, 39, 41});
}

TEST(EngramStore, SubnormalProductsAreExact) {
  EngramFiles files(256);
  for (int at = 0; at < 127; ++at) files.code(0, 9, at) = static_cast<std::byte>(at);
  for (int block = 0; block < 8; ++block) files.scale(0, 9, block) = static_cast<std::byte>(block == 1 ? 1 : 0);
  files.write();
  const auto store = files.store(8, control());
  std::vector<float> values(256);
  ASSERT_TRUE(store->gather(0, std::vector<std::int64_t>{9}, values.data(), {}).isOk());
  EXPECT_EQ(values[1], 0x1p-136F);
  EXPECT_EQ(values[33], std::ldexp(1.125F, -3 - 126));
  expectRows(files, *store, 0, {9});
}

TEST(EngramStore, AFailedReadIsReportedAndCanBeTriedAgain) {
  EngramFiles files(256);
  for (const Fault fault : {Fault::kFail, Fault::kShort}) {
    const auto faults = control();
    faults->longestDelay = 3;
    const auto store = files.store(30, faults);
    faults->choose = [fault](const ReadRequest& request) {
      return request.file == 1 && request.offset >= 8192 ? fault : Fault::kNone;
    };
    std::vector<float> values(3 * 256);
    const Status status = store->gather(1, std::vector<std::int64_t>{0, 100, 200}, values.data(), {});
    EXPECT_EQ(status.code(), Code::kIo);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("layer 14"), HasSubstr("byte "))) << status.message();
    faults->choose = nullptr;
    expectRows(files, *store, 1, {0, 100, 200});
    expectRows(files, *store, 0, {0, 100, 200});
  }
}

TEST(EngramStore, AFailedReadAheadIsSilent) {
  EngramFiles files(256);
  const auto faults = control();
  const auto store = files.store(30, faults);
  faults->choose = [](const ReadRequest&) { return Fault::kFail; };
  store->request(0, std::vector<std::int64_t>{3, 150}, ReadPriority::kCertain);
  for (int i = 0; i < 10 && store->backend().inFlight() > 0; ++i) {
    (void)store->backend().waitReady(std::chrono::milliseconds(10));
    store->poll();
  }
  faults->choose = nullptr;
  expectRows(files, *store, 0, {3, 150});
  faults->refuseSubmits = true;
  std::vector<float> values(256);
  store->request(0, std::vector<std::int64_t>{299}, ReadPriority::kCertain);
  EXPECT_EQ(store->gather(1, std::vector<std::int64_t>{299}, values.data(), {}).code(), Code::kIo);
  faults->refuseSubmits = false;
  expectRows(files, *store, 1, {299});
}

TEST(EngramStore, RandomFaultsNeverGiveWrongValues) {
  EngramFiles files(256, 600);
  for (const std::uint64_t sectors : {std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{50}}) {
    const auto faults = control();
    faults->longestDelay = 8;
    const auto store = files.store(sectors, faults);
    std::mt19937_64 random(sectors);
    std::mt19937_64 dice(5);
    int failures = 0;
    for (int step = 0; step < 150; ++step) {
      faults->choose = [&dice](const ReadRequest&) { return dice() % 40 == 0 ? Fault::kFail : Fault::kNone; };
      const auto table = static_cast<int>(random() % 2);
      std::vector<std::int64_t> rows(1 + random() % 12);
      for (std::int64_t& row : rows) row = static_cast<std::int64_t>(random() % 600);
      if (random() % 2 == 0) store->request(static_cast<int>(random() % 2), rows, ReadPriority::kPredicted);
      std::vector<float> values(rows.size() * 256);
      const Status status = store->gather(table, rows, values.data(), {});
      if (status.isOk()) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          ASSERT_EQ(values[i],
                    files.expected(static_cast<std::size_t>(table), rows[i / 256], static_cast<int>(i % 256)));
        }
      } else {
        EXPECT_EQ(status.code(), Code::kIo);
        ++failures;
      }
    }
    EXPECT_GT(failures, 0);
  }
}

TEST(EngramStore, EveryByteIsInTheLedger) {
  EngramFiles files(256);
  const auto ledger = std::make_shared<Ledger>();
  for (const bool resident : {false, true}) {
    const auto store = files.store(20, control(), resident, {}, ledger);
    EngramConfig config;
    config.layers = {1, 14};
    config.rows = {300, 300};
    config.headDim = 256;
    const auto most = static_cast<std::int64_t>(EngramStore::bytesForSectors(256, 20) +
                                                (resident ? EngramStore::scaleBytes(config) : 0));
    EXPECT_LE(ledger->bytes(MemoryTag::kEngramCache), most + 4096);
    EXPECT_GE(ledger->bytes(MemoryTag::kEngramCache), 20 * 4096);
    EXPECT_EQ(ledger->total(), ledger->bytes(MemoryTag::kEngramCache));
  }
  EXPECT_EQ(ledger->total(), 0);
}

TEST(EngramStore, PlannedBytesFitTheRows) {
  EngramConfig config;
  config.layers = {1, 14};
  config.rows = {384006168, 384016682};
  config.maxNgram = 4;
  config.heads = 8;
  config.headDim = 256;
  const std::uint64_t none = EngramStore::bytesFor(config, 0);
  const std::uint64_t some = EngramStore::bytesFor(config, 1000);
  const std::uint64_t halved = EngramStore::bytesFor(config, 1000, true);
  // A row is two sectors and a little, its codes one.
  EXPECT_GT(some - none, 2 * 1000 * 2 * kEngramSectorBytes);
  EXPECT_LT(some - none, 2 * 1000 * 2 * kEngramSectorBytes * 11 / 10);
  EXPECT_LT(halved - none, (some - none) * 6 / 10);
  EXPECT_EQ(EngramStore::scaleBytes(config), (384006168ULL + 384016682ULL) * 8 + 4 * 4096);
  // Never more than the tables themselves.
  config.rows = {300, 300};
  EXPECT_EQ(EngramStore::bytesFor(config, 1U << 30), EngramStore::bytesFor(config, 1U << 20));
  EXPECT_EQ(EngramStore::bytesFor(EngramConfig(), 1000), 0U);
}

TEST(EngramStore, RefusesTablesThatDoNotHoldTogether) {
  EngramFiles files(256);
  const auto codeOf = [&](const std::vector<EngramTable>& tables) {
    auto backend = openReadBackend(files.paths(), {});
    EXPECT_TRUE(backend.isOk());
    return EngramStore::create(tables, std::move(backend).value(), {1 << 20}, nullptr).status().code();
  };
  EXPECT_EQ(codeOf({}), Code::kInternal);
  auto tables = files.tables();
  tables[0].rows += 1;
  EXPECT_EQ(codeOf(tables), Code::kInternal);
  tables = files.tables();
  tables[1].scales.bytes -= 1;
  EXPECT_EQ(codeOf(tables), Code::kInternal);
  tables = files.tables();
  tables[1].dim = 48;
  EXPECT_EQ(codeOf(tables), Code::kInternal);
}

TEST(EngramStore, CancelledWhileScalesAreLoaded) {
  EngramFiles files(256);
  auto backend = openReadBackend(files.paths(), {});
  ASSERT_TRUE(backend.isOk());
  const Cancellation cancellation;
  cancellation.cancel();
  const auto store =
      EngramStore::create(files.tables(), std::move(backend).value(), {1 << 20, true}, nullptr, cancellation);
  EXPECT_EQ(store.status().code(), Code::kCancelled);
}

/// A table as large as a released one, in a file of holes with bytes at the rows that are looked at.
TEST(EngramStore, RowsBeyondFourAndSixtyFourGigabytes) {
  constexpr std::int64_t kRows = 384006168;
  constexpr std::uint64_t kCodes = 4096 * 3 + 520;  // as behind a header, not aligned
  constexpr std::uint64_t kScales = kCodes + std::uint64_t{kRows} * 256;
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "sparse";
  const int file = ::open(path.c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(kScales + std::uint64_t{kRows} * 8)), 0);
  const std::vector<std::int64_t> rows{0, (std::int64_t{1} << 31) / 256 + 1, (std::int64_t{1} << 32) / 256 + 2,
                                       (std::int64_t{1} << 36) / 256 + 3, kRows - 1};
  for (const std::int64_t row : rows) {
    std::array<std::uint8_t, 256> codes{};
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = static_cast<std::uint8_t>(byteAt(static_cast<std::uint64_t>(row), i)) & 0xbf;
    std::array<std::uint8_t, 8> scales{};
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<std::uint8_t>(120 + (row + i) % 10);
    ASSERT_EQ(::pwrite(file, codes.data(), 256, static_cast<off_t>(kCodes + static_cast<std::uint64_t>(row) * 256)),
              256);
    ASSERT_EQ(::pwrite(file, scales.data(), 8, static_cast<off_t>(kScales + static_cast<std::uint64_t>(row) * 8)), 8);
  }
  ::close(file);
  auto backend = openReadBackend(std::vector{path}, {});
  ASSERT_TRUE(backend.isOk()) << backend.status().message();
  const EngramTable table{
      1, kRows, 256, {0, kCodes, std::uint64_t{kRows} * 256}, {0, kScales, std::uint64_t{kRows} * 8}};
  const auto store =
      EngramStore::create({table}, std::move(backend).value(), {EngramStore::bytesForSectors(256, 40)}, nullptr);
  ASSERT_TRUE(store.isOk()) << store.status().message();
  std::vector<float> values(rows.size() * 256);
  ASSERT_TRUE((*store)->gather(0, rows, values.data(), {}).isOk());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t at = 0; at < 256; ++at) {
      const auto code = static_cast<std::uint8_t>(byteAt(static_cast<std::uint64_t>(rows[i]), at)) & 0xbf;
      const int exponent = static_cast<int>(120 + (static_cast<std::uint64_t>(rows[i]) + at / 32) % 10) - 127;
      ASSERT_EQ(values[i * 256 + at],
                static_cast<float>(std::ldexp(testing::e4m3Value(static_cast<std::uint8_t>(code)), exponent)))
          << "row " << rows[i] << " value " << at;
    }
  }
}

TEST(EngramTables, AreFoundAndChecked) {
  ModelConfig config;
  config.engram.layers = {3};
  config.engram.rows = {70};
  config.engram.headDim = 64;
  const std::vector<Shard> shards{{"a", "a", 10000, 8, 0}, {"b", "b", 10000, 8, 0}};
  const TensorInfo scale{"layers.3.engram.embed.scale", Dtype::kF8E8M0, {70, 2}, 1, 100, 140};
  const TensorInfo weight{"layers.3.engram.embed.weight", Dtype::kF8E4M3, {70, 64}, 0, 300, 4480};
  const auto open = [&](std::vector<TensorInfo> tensors) {
    return engramTables(config, *ShardSet::assemble(shards, std::move(tensors)));
  };
  const auto tables = open({scale, weight});
  ASSERT_TRUE(tables.isOk()) << tables.status().message();
  EXPECT_EQ((*tables)[0].layer, 3);
  EXPECT_EQ((*tables)[0].codes.offset, 300U);
  EXPECT_EQ((*tables)[0].scales.shard, 1U);
  EXPECT_EQ(open({scale}).status().id(), "tensor_missing");
  TensorInfo wrong = weight;
  wrong.dtype = Dtype::kF8E5M2;
  EXPECT_EQ(open({scale, wrong}).status().id(), "tensor_dtype");
  wrong = weight;
  wrong.shape = {64, 70};
  EXPECT_EQ(open({scale, wrong}).status().id(), "tensor_shape");
  EXPECT_THAT(open({scale, wrong}).status().message(), HasSubstr("layers.3.engram.embed.weight"));
}

}  // namespace
}  // namespace colibri

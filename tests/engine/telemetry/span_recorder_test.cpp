// The timeline: what the ring keeps, what the trace file says, and that the split's spans nest and add up.

#include "telemetry/span_recorder.h"

#include "base/json.h"
#include "engine/io/test_files.h"
#include "telemetry/time_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

namespace colibri {
namespace {

using std::chrono::microseconds;

class SpanRecorderTest : public ::testing::Test {
protected:
  void create(std::size_t capacity) {
    auto made = SpanRecorder::create(m_ledger, capacity);
    ASSERT_TRUE(made.isOk());
    m_recorder = std::move(made).value();
  }
  [[nodiscard]] Json written() const {
    const std::filesystem::path file = m_folder.path() / "trace.json";
    const Status status = m_recorder->write(file);
    EXPECT_TRUE(status.isOk()) << status.message();
    const auto text = readFile(file, std::size_t{1} << 28);
    EXPECT_TRUE(text.isOk());
    return Json::parse(text.value());
  }
  [[nodiscard]] static std::vector<Json> events(const Json& trace, const std::string& phase) {
    std::vector<Json> found;
    for (const Json& event : trace.at("traceEvents")) {
      if (event.at("ph") == phase) found.push_back(event);
    }
    return found;
  }

  testing::TemporaryFolder m_folder;
  std::shared_ptr<Ledger> m_ledger = std::make_shared<Ledger>();
  std::unique_ptr<SpanRecorder> m_recorder;
  Span::Clock::time_point m_start = Span::Clock::now();
};

TEST_F(SpanRecorderTest, WritesSpansReadsAndNames) {
  create(100);
  EXPECT_EQ(m_recorder->capacity(), 128U);
  EXPECT_EQ(m_ledger->bytes(MemoryTag::kReserve), 128 * 64);
  m_recorder->nameThread(3, "helper \"three\"");
  m_recorder->nameDrive(1, "/mnt/b\xff");
  const auto begin = Span::Clock::now();
  m_recorder->record({"work", begin, begin + microseconds(2500), 3, 7, 4, 4096});
  m_recorder->recordRead(1, begin + microseconds(10), begin + microseconds(30), 1 << 20);
  m_recorder->recordRead(1, begin + microseconds(20), begin + microseconds(40), 5);
  const Json trace = written();
  const auto complete = events(trace, "X");
  ASSERT_EQ(complete.size(), 1U);
  EXPECT_EQ(complete[0].at("name"), "work");
  EXPECT_EQ(complete[0].at("tid"), 3);
  EXPECT_DOUBLE_EQ(complete[0].at("dur"), 2500.0);
  EXPECT_GE(complete[0].at("ts"), 0.0);
  EXPECT_EQ(complete[0].at("args"), (Json{{"layer", 7}, {"tokens", 4}, {"bytes", 4096}}));
  const auto begins = events(trace, "b");
  const auto ends = events(trace, "e");
  ASSERT_EQ(begins.size(), 2U);
  ASSERT_EQ(ends.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const char* key : {"name", "cat", "id", "pid", "tid"}) EXPECT_EQ(begins[i].at(key), ends[i].at(key)) << key;
    EXPECT_NEAR(ends[i].at("ts").get<double>() - begins[i].at("ts").get<double>(), 20, 1e-3);
  }
  EXPECT_NE(begins[0].at("id"), begins[1].at("id"));
  EXPECT_EQ(begins[0].at("args"), (Json{{"bytes", 1 << 20}}));
  std::map<std::string, int> names;
  for (const Json& event : events(trace, "M")) ++names[event.at("args").at("name")];
  EXPECT_EQ(names["helper \"three\""], 1);
  EXPECT_EQ(names["engine"], 1);
  EXPECT_EQ(names.size(), 5U);
  EXPECT_EQ(trace.at("otherData"), (Json{{"spans_recorded", 3}, {"spans_forgotten", 0}}));
}

TEST_F(SpanRecorderTest, TheRingKeepsTheLatest) {
  create(64);
  for (int i = 0; i < 1000; ++i) m_recorder->record({"work", m_start, m_start + microseconds(1), 0, i, 0, 0});
  EXPECT_EQ(m_recorder->recorded(), 1000U);
  const Json trace = written();
  const auto kept = events(trace, "X");
  ASSERT_EQ(kept.size(), 64U);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(kept[static_cast<std::size_t>(i)].at("args").at("layer"), 936 + i);
  EXPECT_EQ(trace.at("otherData").at("spans_forgotten"), 936);
}

TEST_F(SpanRecorderTest, ManyThreadsAndAReaderBeside) {
  create(1 << 10);
  constexpr int kThreads = 3;
  constexpr int kSpans = 5000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kSpans; ++i) {
        // Every field tells the same number, so that a mixture would be seen.
        m_recorder->record({"work", m_start + microseconds(i), m_start + microseconds(2 * i + 1),
                            static_cast<std::uint32_t>(t), i, i + 1, static_cast<std::uint64_t>(i) + 2});
      }
    });
  }
  for (int i = 0; i < 3; ++i) {
    for (const Json& event : events(written(), "X")) {
      const int number = event.at("args").at("layer");
      EXPECT_EQ(event.at("args").at("tokens"), number + 1);
      EXPECT_EQ(event.at("args").at("bytes"), number + 2);
      EXPECT_NEAR(event.at("dur").get<double>(), number + 1, 1e-3);
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(m_recorder->recorded(), static_cast<std::uint64_t>(kThreads * kSpans));
  EXPECT_EQ(events(written(), "X").size(), m_recorder->capacity());
}

TEST_F(SpanRecorderTest, AFileThatCannotBeWrittenIsSaidAndLeavesNothing) {
  create(64);
  const Status missing = m_recorder->write(m_folder.path() / "no" / "trace.json");
  EXPECT_EQ(missing.code(), Code::kIo);
  EXPECT_THAT(missing.message(), ::testing::HasSubstr("trace.json"));
  std::filesystem::create_directories(m_folder.path() / "folder" / "inside");
  EXPECT_EQ(m_recorder->write(m_folder.path() / "folder").code(), Code::kIo);
  EXPECT_FALSE(std::filesystem::exists(m_folder.path() / "folder.part"));
}

struct Interval {
  std::string name;
  double begin = 0;
  double end = 0;
  int layer = -1;
};

TEST_F(SpanRecorderTest, TheSplitsSpansNestAndAddUp) {
  create(1 << 12);
  double total = 0;
  std::map<std::string, double> seconds;
  {
    TimeLedger time(m_recorder.get());
    for (int pass = 0; pass < 3; ++pass) {
      const PassScope scope(time, pass == 0 ? "prefill" : "decode", pass == 0 ? 9 : 1, TimeCause::kDense);
      for (int layer = 0; layer < 4; ++layer) {
        time.beginLayer(layer);
        time.enter(TimeCause::kAttention);
        time.enter(TimeCause::kDense);
        const TimeScope experts(time, TimeCause::kExperts);
        const TimeScope wait(time, TimeCause::kDiskWait);
        if (pass == 2 && layer == 2) break;  // a pass that ends early
      }
      if (pass < 2) time.endLayers();
    }
    time.enter(TimeCause::kOther);
    total = time.total();
    for (std::size_t i = 0; i < static_cast<std::size_t>(TimeCause::kCount); ++i) {
      const auto cause = static_cast<TimeCause>(i);
      seconds[timeCauseName(cause)] = time.seconds(cause);
    }
  }
  std::vector<Interval> all;
  for (const Json& event : events(written(), "X")) {
    all.push_back({event.at("name"), event.at("ts"), event.at("ts").get<double>() + event.at("dur").get<double>(),
                   event.at("args").value("layer", -1)});
  }
  std::map<std::string, double> sums;
  double causes = 0;
  for (const Interval& a : all) {
    sums[a.name] += (a.end - a.begin) * 1e-6;
    if (seconds.count(a.name) != 0) causes += (a.end - a.begin) * 1e-6;
    for (const Interval& b : all) {
      const bool apart = a.end <= b.begin + 2e-3 || b.end <= a.begin + 2e-3;
      const bool inside =
          (a.begin >= b.begin - 2e-3 && a.end <= b.end + 2e-3) || (b.begin >= a.begin - 2e-3 && b.end <= a.end + 2e-3);
      EXPECT_TRUE(apart || inside) << a.name << " " << a.layer << " and " << b.name << " " << b.layer;
    }
  }
  for (const auto& [name, value] : seconds) EXPECT_NEAR(sums[name], value, 1e-6) << name;
  EXPECT_NEAR(causes, total, 1e-6);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Interval& a) { return a.name == "layer"; }), 11);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Interval& a) { return a.name == "decode"; }), 2);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Interval& a) { return a.name == "prefill"; }), 1);
}

}  // namespace
}  // namespace colibri

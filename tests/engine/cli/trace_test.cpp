// coli run --trace-out: a timeline that agrees with what the answer says of its time.

#include "cli_harness.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

namespace colibri {
namespace {

struct Interval {
  std::string name;
  double begin = 0;
  double end = 0;
  int layer = -1;
  int tokens = 0;
};

std::vector<Interval> readTrace(const std::string& file) {
  std::ifstream in(file);
  const OrderedJson trace = OrderedJson::parse(in);
  std::vector<Interval> spans;
  for (const OrderedJson& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const double begin = event.at("ts");
    const OrderedJson& args = event.at("args");
    spans.push_back({event.at("name"), begin, begin + event.at("dur").get<double>(), args.value("layer", -1),
                     args.value("tokens", 0)});
  }
  return spans;
}

bool holds(const Interval& outer, const Interval& inner) {
  constexpr double kRounding = 2e-3;  // microseconds
  return inner.begin >= outer.begin - kRounding && inner.end <= outer.end + kRounding;
}

TEST(TraceOut, SpansNestAndAddUpToTheSplit) {
  const Scratch scratch;
  const std::string file = scratch.path("trace.json");
  // More misses than hits, so that every cause appears.
  const CliResult result = Cli()({"run", "--prompt", "Hello there", "--json", "--max-tokens", "12", "--ignore-eos",
                                  "--cache-experts", "2", "--trace-out", file});
  ASSERT_EQ(result.code, 0) << result.err;
  const OrderedJson done = result.lines().back();
  const std::vector<Interval> spans = readTrace(file);
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));

  std::map<std::string, double> seconds;
  for (const Interval& span : spans) seconds[span.name] += (span.end - span.begin) * 1e-6;
  double all = 0;
  const OrderedJson& split = done.at("timings").at("split");
  const std::map<std::string, std::string> names{{"disk wait", "disk_wait_s"},
                                                 {"experts", "expert_s"},
                                                 {"dense", "dense_s"},
                                                 {"attention", "attention_s"},
                                                 {"other", "other_s"}};
  ASSERT_EQ(split.size(), names.size());
  for (const auto& [name, key] : names) {
    const double told = split.at(key);
    EXPECT_GT(told, 0.0) << key;
    EXPECT_NEAR(seconds[name], told, std::max(0.02 * told, 1e-4)) << key;
    all += seconds[name];
  }
  const double wall =
      done.at("timings").at("prefill_s").get<double>() + done.at("timings").at("decode_s").get<double>();
  EXPECT_NEAR(all, wall, 0.02 * wall);

  // Passes hold layers, layers hold causes; each token but the last has its pass.
  int decodes = 0;
  int prefilled = 0;
  for (const Interval& outer : spans) {
    if (outer.name == "decode" && outer.tokens == 1) ++decodes;
    if (outer.name == "prefill" || outer.name == "decode") prefilled += outer.tokens;
    for (const Interval& inner : spans) {
      const bool apart = inner.end <= outer.begin + 2e-3 || outer.end <= inner.begin + 2e-3;
      EXPECT_TRUE(apart || holds(outer, inner) || holds(inner, outer)) << outer.name << " and " << inner.name;
    }
    if (outer.name != "layer") continue;
    double inside = 0;
    for (const Interval& inner : spans) {
      if (inner.layer == outer.layer && inner.name != "layer" && holds(outer, inner)) inside += inner.end - inner.begin;
    }
    EXPECT_NEAR(inside, outer.end - outer.begin, 0.1) << "layer " << outer.layer;
  }
  EXPECT_GE(decodes, 11);
  EXPECT_EQ(prefilled, done.at("prompt_tokens").get<int>() + 11);
}

TEST(TraceOut, AnUnwritableFileIsAnErrorBehindTheAnswer) {
  const Scratch scratch;
  const CliResult result = Cli()({"run", "--prompt", "Hello", "--json", "--max-tokens", "2", "--trace-out",
                                  scratch.path("absent") + "/trace.json"});
  expectError(result, 5, "trace_not_written");
  EXPECT_THAT(result.out, testing::HasSubstr("\"event\":\"done\""));
}

}  // namespace
}  // namespace colibri

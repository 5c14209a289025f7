// Generated text back to reasoning, content and calls, in any split.

#include "text_goldens.h"
#include <colibri/chat.h>

#include <set>

namespace colibri::testing {
namespace {

using Json = nlohmann::ordered_json;

struct Feed {
  std::vector<std::string> chunks;
  bool truncated = false;
};

Completion parse(const Feed& feed, const CompletionOptions& options) {
  CompletionParser parser(options);
  Completion sum;
  const auto add = [&](const CompletionDelta& delta) {
    sum.content += delta.content;
    sum.reasoning += delta.reasoning;
    sum.toolCalls.insert(sum.toolCalls.end(), delta.completedCalls.begin(), delta.completedCalls.end());
  };
  for (const std::string& chunk : feed.chunks) add(parser.push(chunk));
  add(parser.finish(feed.truncated));
  // The pieces are the whole.
  const Completion& all = parser.completion();
  EXPECT_EQ(sum.content, all.content);
  EXPECT_EQ(sum.reasoning, all.reasoning);
  EXPECT_EQ(sum.toolCalls.size(), all.toolCalls.size());
  return all;
}

std::string shown(const Completion& completion) {
  Json json{{"content", completion.content},
            {"reasoning", completion.reasoning},
            {"finish", completion.finish},
            {"unread", completion.unreadMarkup},
            {"calls", Json::array()}};
  for (const ToolCall& call : completion.toolCalls) {
    json["calls"].push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  }
  return json.dump();
}

// Parses in one piece and holds that byte by byte and random pieces give the same.
Completion parse(const std::string& text, const CompletionOptions& options, bool truncated = false) {
  const Completion whole = parse(Feed{{text}, truncated}, options);
  std::mt19937 random(static_cast<unsigned>(text.size()));
  for (const std::size_t longest : {std::size_t{1}, std::size_t{3}, std::size_t{17}}) {
    EXPECT_EQ(shown(parse(Feed{randomChunks(text, random, longest), truncated}, options)), shown(whole)) << text;
  }
  return whole;
}

Completion parse(const std::string& text, bool reasoning = false, bool truncated = false) {
  CompletionOptions options;
  options.startsInReasoning = reasoning;
  return parse(text, options, truncated);
}

std::string blockOf(const std::string& calls) {
  return "<｜DSML｜tool_calls>\n" + calls + "</｜DSML｜tool_calls>";
}
std::string callOf(const std::string& name, const std::string& parameters) {
  return "<｜DSML｜invoke name=\"" + name + "\">\n" + parameters + "\n</｜DSML｜invoke>\n";
}
std::string parameterOf(const std::string& name, const std::string& value, bool isString) {
  return "<｜DSML｜parameter name=\"" + name + "\" string=\"" + (isString ? "true" : "false") + "\">" + value +
         "</｜DSML｜parameter>";
}

TEST(CompletionParser, ReasoningContentAndCalls) {
  const Completion all =
      parse("\nThink.\n\n</think>\n\nAnswer\n\n" +
                blockOf(callOf("f", parameterOf("s", "a \"b\" <c>\n", true) + "\n" + parameterOf("n", "1e5", false)) +
                        callOf("g", "")) +
                "<｜end▁of▁sentence｜>",
            true);
  EXPECT_EQ(all.reasoning, "Think.");
  EXPECT_EQ(all.content, "Answer");
  ASSERT_EQ(all.toolCalls.size(), 2U);
  EXPECT_EQ(all.toolCalls[0].name, "f");
  EXPECT_EQ(all.toolCalls[0].arguments, R"({"s": "a \"b\" <c>\n", "n": 1e5})");
  EXPECT_EQ(all.toolCalls[1].arguments, "{}");
  EXPECT_EQ(all.finish, "tool_calls");
  EXPECT_EQ(all.unreadMarkup, "");
}

TEST(CompletionParser, PlainText) {
  EXPECT_EQ(parse("Hello <b>world</b>\n\n< 3 <｜ <t\n").content, "Hello <b>world</b>\n\n< 3 <｜ <t\n");
  EXPECT_EQ(parse("\n\nHello").content, "Hello");
  EXPECT_EQ(parse("").finish, "stop");
  EXPECT_EQ(parse("abc", false, true).finish, "length");
  EXPECT_EQ(parse("a</think>b").content, "ab");
  EXPECT_EQ(parse("a<｜end▁of▁sentence｜>b").content, "a");
  EXPECT_EQ(parse("a\n<｜User｜>b").content, "a\n");
  EXPECT_EQ(parse("half \xE4\xBD").content, "half \uFFFD");
  EXPECT_EQ(parse("\xFF!").content, "\uFFFD!");
}

TEST(CompletionParser, Reasoning) {
  EXPECT_EQ(parse("<think>a<think>b\n</think>c", true).reasoning, "ab");
  const Completion onlyReasoning = parse("all of it\n\n<｜end▁of▁sentence｜>", true);
  EXPECT_EQ(onlyReasoning.reasoning, "all of it");
  EXPECT_EQ(onlyReasoning.content, "");
  EXPECT_EQ(onlyReasoning.finish, "stop");
  // A block before the reasoning is closed is still a block.
  const Completion early = parse("I call.\n\n" + blockOf(callOf("f", "")), true);
  EXPECT_EQ(early.reasoning, "I call.");
  EXPECT_EQ(early.toolCalls.size(), 1U);
  // Look-alikes are only thought about.
  EXPECT_EQ(parse("<|DSML|tool_calls> is wrong</think>x", true).reasoning, "<|DSML|tool_calls> is wrong");
  EXPECT_EQ(parse("</think>", true).reasoning, "");
  CompletionParser parser(true);
  EXPECT_TRUE(parser.inReasoning());
  (void)parser.push("a</think>");
  EXPECT_FALSE(parser.inReasoning());
}

TEST(CompletionParser, BothDialectsAndLookAlikes) {
  const std::string v4 = blockOf(callOf("f", parameterOf("k", "v", true)));
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  };
  const std::string v41 = replaced(replaced(v4, "｜DSML｜", "｜DSML｜ "), "tool_calls", "calls");
  for (const std::string& text :
       {v4, v41, replaced(v4, "｜", "|"), replaced(v41, "｜", "|"), replaced(v4, "｜DSML｜", "｜DSML｜ ")}) {
    const Completion all = parse("x\n\n" + text);
    EXPECT_EQ(all.content, "x");
    ASSERT_EQ(all.toolCalls.size(), 1U) << text;
    EXPECT_EQ(all.toolCalls[0].arguments, R"({"k": "v"})");
  }
  // An ASCII closing tag inside a genuine value is part of the value.
  EXPECT_EQ(parse(blockOf(callOf("f", parameterOf("k", "a</|DSML|parameter>b", true)))).toolCalls.at(0).arguments,
            R"({"k": "a</|DSML|parameter>b"})");
}

TEST(CompletionParser, DamagedMarkup) {
  // Raw values that are no JSON become strings.
  EXPECT_EQ(parse(blockOf(callOf("f", parameterOf("k", "not json", false)))).toolCalls.at(0).arguments,
            R"({"k": "not json"})");
  EXPECT_EQ(parse(blockOf(callOf("f", parameterOf("k", "", false)))).toolCalls.at(0).arguments, R"({"k": ""})");
  // No wrapper, no closing tags around complete parameters, text between tags.
  EXPECT_EQ(parse("a\n" + callOf("f", parameterOf("k", "v", true))).toolCalls.size(), 1U);
  EXPECT_EQ(parse(blockOf("<｜DSML｜invoke name=\"f\">" + callOf("g", ""))).toolCalls.size(), 2U);
  EXPECT_EQ(parse(blockOf("noise <b> " + callOf("f", "noise" + parameterOf("k", "v", true) + "noise")))
                .toolCalls.at(0)
                .arguments,
            R"({"k": "v"})");
  // A name or a parameter that cannot be read: that call is not delivered, the next one is.
  for (const char* bad : {"<｜DSML｜invoke>", "<｜DSML｜invoke name=>", "<｜DSML｜invoke name=\"f\n\">",
                          "<｜DSML｜invoke name=\"f\"><｜DSML｜parameter>x</｜DSML｜parameter>"}) {
    const Completion all = parse("text\n\n" + blockOf(std::string(bad) + "</｜DSML｜invoke>" + callOf("g", "")));
    EXPECT_EQ(all.content, "text") << bad;
    ASSERT_EQ(all.toolCalls.size(), 1U) << bad;
    EXPECT_EQ(all.toolCalls[0].name, "g");
  }
  // Nothing readable: the content ends at the mark and the markup is kept for a log.
  const Completion nothing = parse("text\n\n<｜DSML｜frobnicate>{\"a\":1}");
  EXPECT_EQ(nothing.content, "text");
  EXPECT_EQ(nothing.unreadMarkup, "<｜DSML｜frobnicate>{\"a\":1}");
  EXPECT_TRUE(nothing.toolCalls.empty());
  // A repeated parameter keeps its place and takes the later value.
  EXPECT_EQ(parse(blockOf(callOf(
                      "f", parameterOf("a", "1", false) + parameterOf("b", "2", false) + parameterOf("a", "3", false))))
                .toolCalls.at(0)
                .arguments,
            R"({"a": 3, "b": 2})");
  // Text after the block is ignored.
  EXPECT_EQ(parse("x" + blockOf(callOf("f", "")) + "more").content, "x");
  // A tag that never ends.
  EXPECT_TRUE(parse(blockOf("<｜DSML｜invoke name=\"" + std::string(10'000, 'x'))).toolCalls.empty());
}

TEST(CompletionParser, EveryPrefixOfABlock) {
  const std::string first = callOf("f", parameterOf("k", "v", true));
  const std::string text = "Before\n\n" + blockOf(first + callOf("g", parameterOf("n", "[1, 2]", false)));
  const std::size_t firstEnd = text.find("</｜DSML｜invoke") + std::string("</｜DSML｜invoke").size();
  const std::size_t secondEnd = text.rfind("</｜DSML｜invoke") + std::string("</｜DSML｜invoke").size();
  const std::size_t blockEnd = text.size() - 1;  // the end of the name is enough
  for (std::size_t length = 8; length <= text.size(); ++length) {
    for (const bool truncated : {false, true}) {
      CompletionOptions options;
      const Completion all = parse(Feed{{text.substr(0, length)}, truncated}, options);
      EXPECT_EQ(all.content.find("DSML"), std::string::npos) << length;
      EXPECT_TRUE(all.content.starts_with("Before")) << length;
      EXPECT_EQ(all.toolCalls.size(), (length >= firstEnd ? 1U : 0U) + (length >= secondEnd ? 1U : 0U)) << length;
      if (length == text.size()) {
        EXPECT_EQ(all.finish, "tool_calls");
      } else if (truncated) {
        EXPECT_EQ(all.finish, length >= blockEnd ? "tool_calls" : "length") << length;
      }
    }
  }
}

TEST(CompletionParser, MarkupWithoutToolsIsText) {
  CompletionOptions options;
  options.toolsOffered = false;
  const Completion all = parse("a\n\n<｜DSML｜tool_calls>b</｜DSML｜tool_calls>", options);
  EXPECT_EQ(all.content, "a\n\n<tool_calls>b</tool_calls>");
  EXPECT_EQ(all.finish, "stop");
}

TEST(CompletionParser, ArgumentsFollowTheDeclaredTypes) {
  CompletionOptions options;
  options.tools = R"([{"type":"function","function":{"name":"f","parameters":{"properties":{
      "s":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":["boolean","null"]},"l":{"type":"array"},
      "o":{"type":"object"},"any":{},"two":{"type":["string","number"]}}}}}])";
  const auto arguments = [&](const std::string& name, const std::string& value, bool isString) {
    return parse(blockOf(callOf("f", parameterOf(name, value, isString))), options).toolCalls.at(0).arguments;
  };
  EXPECT_EQ(arguments("s", "12", false), R"({"s": "12"})");
  EXPECT_EQ(arguments("s", "\"x\"", false), R"({"s": "x"})");
  EXPECT_EQ(arguments("n", "12.5", true), R"({"n": 12.5})");
  EXPECT_EQ(arguments("n", "twelve", true), R"({"n": "twelve"})");
  EXPECT_EQ(arguments("i", "12", true), R"({"i": 12})");
  EXPECT_EQ(arguments("i", "12.5", true), R"({"i": "12.5"})");
  EXPECT_EQ(arguments("b", "true", true), R"({"b": true})");
  EXPECT_EQ(arguments("l", "[1]", true), R"({"l": [1]})");
  EXPECT_EQ(arguments("o", "[1]", true), R"({"o": "[1]"})");
  EXPECT_EQ(arguments("any", "1", true), R"({"any": "1"})");
  EXPECT_EQ(arguments("two", "1", true), R"({"two": "1"})");
  EXPECT_EQ(arguments("unknown", "1", true), R"({"unknown": "1"})");
}

TEST(CompletionParser, IdsAreOfTheUsualFormAndDiffer) {
  std::set<std::string> ids;
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    CompletionOptions options;
    options.idSeed = seed;
    for (const ToolCall& call : parse(blockOf(callOf("f", "") + callOf("g", "")), options).toolCalls) {
      EXPECT_EQ(call.id.size(), 29U);
      EXPECT_TRUE(call.id.starts_with("call_"));
      EXPECT_EQ(call.id.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"),
                std::string::npos);
      ids.insert(call.id);
    }
  }
  EXPECT_EQ(ids.size(), 6U);
}

TEST(CompletionParser, RandomTextInAnySplit) {
  static constexpr std::array<std::string_view, 24> kParts{"a",
                                                           "\n",
                                                           "\n\n",
                                                           "<",
                                                           "</",
                                                           "<think>",
                                                           "</think>",
                                                           "｜DSML｜",
                                                           "|DSML|",
                                                           " ",
                                                           "tool_calls",
                                                           " calls",
                                                           "invoke",
                                                           "parameter",
                                                           " name=\"",
                                                           "x\"",
                                                           " string=\"false\"",
                                                           ">",
                                                           "<｜DSML｜tool_calls>",
                                                           "<｜DSML｜invoke name=\"f\">",
                                                           "<｜DSML｜parameter name=\"k\" string=\"true\">",
                                                           "</｜DSML｜parameter>",
                                                           "</｜DSML｜invoke>",
                                                           "<｜end▁of▁sentence｜>"};
  std::mt19937 random(7);
  for (int i = 0; i < 1500; ++i) {
    std::string text;
    for (std::size_t k = 0; k < random() % 25; ++k) text += kParts[random() % kParts.size()];
    parse(text, (random() & 1U) != 0, (random() & 2U) != 0);
  }
}

TEST(CompletionParser, WhatWasWrittenIsReadBack) {
  std::mt19937 random(8);
  static constexpr std::array<std::string_view, 14> kValues{"plain",
                                                            "two\nlines\r\n",
                                                            "quote \" and \\",
                                                            "<b>&amp;</b>",
                                                            "😀 ✓",
                                                            "",
                                                            " ",
                                                            "</think>",
                                                            "<｜DSML｜invoke name=\"x\">",
                                                            "</｜DSML｜invoke>",
                                                            "</｜DSML｜tool_calls>",
                                                            "<｜end▁of▁sentence｜>",
                                                            "</｜DSML｜para",
                                                            "\u0001"};
  for (const Dialect dialect : {Dialect::kA, Dialect::kB, Dialect::kC}) {
    for (int i = 0; i < 60; ++i) {
      Json arguments = Json::object();
      for (std::size_t k = 0; k < random() % 4; ++k) {
        arguments["key" + std::to_string(k)] = k == 2 ? Json::array({1, nullptr, std::string(kValues[random() % 6])})
                                                      : Json(std::string(kValues[random() % kValues.size()]));
      }
      const Json turn{
          {"role", "assistant"},
          {"content", i % 2 == 0 ? "" : "Say.\n\nMore <1"},
          {"reasoning_content", i % 3 == 0 ? "" : "Hm\n<2"},
          {"tool_calls",
           Json::array({Json{{"id", "1"}, {"function", {{"name", "f.g-1"}, {"arguments", arguments.dump()}}}},
                        Json{{"id", "2"}, {"function", {{"name", "h"}, {"arguments", "{}"}}}}})}};
      const Json messages = Json::array({Json{{"role", "user"}, {"content", "U"}}, turn});
      const auto prompt = renderPrompt(messages.dump(), dialect);
      ASSERT_TRUE(prompt.isOk());
      const std::string generated = prompt->text.substr(prompt->text.find("<think>") + 7);
      const Completion all = parse(generated, true);
      EXPECT_EQ(all.reasoning, turn["reasoning_content"]);
      EXPECT_EQ(all.content, turn["content"]);
      ASSERT_EQ(all.toolCalls.size(), 2U) << generated;
      EXPECT_EQ(Json::parse(all.toolCalls[0].arguments), arguments);
      // And written again it is the same text.
      Json again = turn;
      for (std::size_t k = 0; k < 2; ++k) again["tool_calls"][k]["function"]["arguments"] = all.toolCalls[k].arguments;
      EXPECT_EQ(renderPrompt(Json::array({messages[0], again}).dump(), dialect)->text, prompt->text);
    }
  }
}

TEST(CompletionParser, LargeValuesByteByByte) {
  // Quadratic work would run into the test's time limit.
  std::string value;
  while (value.size() < (std::size_t{1} << 20)) value += "<｜DSML｜param <\n\n\n";
  const std::string text = std::string(200'000, '\n') + "x" + std::string(200'000, '\n') +
                           blockOf(callOf("f", parameterOf("k", value, true)));
  std::mt19937 random(9);
  const Completion all = parse(Feed{randomChunks(text, random, 2), false}, CompletionOptions{});
  ASSERT_EQ(all.toolCalls.size(), 1U);
  EXPECT_EQ(Json::parse(all.toolCalls[0].arguments)["k"].get<std::string>(), value);
}

TEST(CompletionParser, VendorTurns) {
  for (const std::string number : {"1", "2", "3"}) {
    const std::string prompt = goldenText("encoding/v4/test_output_" + number + ".txt");
    const std::string opening = "<｜Assistant｜><think>";
    for (std::size_t at = prompt.find(opening); at != std::string::npos; at = prompt.find(opening, at + 1)) {
      const Completion all = parse(prompt.substr(at + opening.size()), true);
      EXPECT_FALSE(all.reasoning.empty());
      EXPECT_NE(all.content.empty(), all.toolCalls.empty());
    }
  }
  const std::string first = goldenText("encoding/v4/test_output_1.txt");
  const Completion call = parse(first.substr(first.find("<think>The user wants") + 7), true);
  EXPECT_EQ(call.reasoning, "The user wants to know the weather in Beijing. I should use the get_weather tool.");
  EXPECT_EQ(call.toolCalls.at(0).name, "get_weather");
  EXPECT_EQ(call.toolCalls.at(0).arguments, R"({"location": "Beijing", "unit": "celsius"})");
}

}  // namespace
}  // namespace colibri::testing

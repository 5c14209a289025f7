// What a server does to a request before it is encoded.

#include "text/prompt_constants.h"
#include "text_goldens.h"
#include <colibri/chat.h>

namespace colibri::testing {
namespace {

const std::string kBos = "<｜begin▁of▁sentence｜>";
const std::string kEos = "<｜end▁of▁sentence｜>";

std::string rendered(const std::string& request, Dialect dialect) {
  const auto prompt = renderPrompt(request, dialect, true);
  return prompt.isOk() ? prompt->text : "error: " + prompt.status().message();
}

// A chat-mode request.
std::string chat(const std::string& messages) {
  return R"({"thinking":{"type":"disabled"},"messages":[)" + messages + "]}";
}

TEST(ChatApi, SystemMessagesAreJoinedOrMoved) {
  const std::string messages =
      R"({"role":"developer","content":"D"},{"role":"system","content":"S"},{"role":"user","content":"U"},{"role":"system","content":"L"})";
  EXPECT_EQ(rendered(chat(messages), Dialect::kA), kBos + "D\n\nS<｜User｜>U\n\nL<｜Assistant｜></think>");
  EXPECT_EQ(rendered(chat(messages), Dialect::kC),
            kBos + "<｜System｜>D\n\nS<｜User｜>U<｜System｜>L<｜Assistant｜></think>");
}

TEST(ChatApi, AssistantTurnsAreMergedAndContinued) {
  EXPECT_EQ(
      rendered(
          chat(
              R"({"role":"user","content":"U"},{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"V"})"),
          Dialect::kA),
      kBos + "<｜User｜>U<｜Assistant｜></think>ab" + kEos + "<｜User｜>V<｜Assistant｜></think>");
  EXPECT_EQ(rendered(chat(R"({"role":"user","content":"U"},{"role":"assistant","content":"Once"})"), Dialect::kA),
            kBos + "<｜User｜>U<｜Assistant｜></think>Once");
  const std::string empty = R"({"messages":[{"role":"user","content":"U"},{"role":"assistant","content":""}]})";
  EXPECT_EQ(rendered(empty, Dialect::kA), kBos + "<｜User｜>U<｜Assistant｜><think>");
  const std::string begun = R"({"messages":[{"role":"user","content":"U"},{"role":"assistant","content":"A"}]})";
  EXPECT_EQ(rendered(begun, Dialect::kA), kBos + "<｜User｜>U<｜Assistant｜><think></think>A");
}

TEST(ChatApi, SomebodyMustAsk) {
  EXPECT_TRUE(rendered(chat(""), Dialect::kA).starts_with("error: There are no messages"));
  for (const Dialect dialect : {Dialect::kA, Dialect::kC}) {
    EXPECT_TRUE(
        rendered(chat(R"({"role":"system","content":"S"})"), dialect).starts_with("error: There is no user message"));
  }
  EXPECT_EQ(rendered(chat(R"({"role":"user","content":""})"), Dialect::kA), kBos + "<｜User｜><｜Assistant｜></think>");
}

TEST(ChatApi, ModesAndLevelsOfAllClients) {
  const auto with = [](const std::string& option, Dialect dialect) {
    return rendered("{" + option + R"(,"messages":[{"role":"user","content":"U"}]})", dialect);
  };
  const std::string rest = "<｜User｜>U<｜Assistant｜>";
  const std::string first(prompt::kEffortMaximum);
  const std::string second(prompt::kEffortBeyondMaximum);
  for (const char* off :
       {R"("thinking":false)", R"("think":false)", R"("reasoning_effort":"none")", R"("thinking":{"type":"disabled"})",
        R"("chat_template_kwargs":{"enable_thinking":false})", R"("chat_template_kwargs":{"thinking":false})"}) {
    EXPECT_EQ(with(off, Dialect::kA), kBos + rest + "</think>") << off;
  }
  EXPECT_EQ(with(R"("thinking":{"type":"adaptive"},"reasoning_effort":"low")", Dialect::kA), kBos + rest + "<think>");
  EXPECT_EQ(with(R"("x":0)", Dialect::kB), kBos + first + rest + "<think>");
  EXPECT_EQ(with(R"("reasoning":{"effort":"minimal"})", Dialect::kB), kBos + rest + "<think>");
  EXPECT_EQ(with(R"("output_config":{"effort":"xhigh"})", Dialect::kB), kBos + first + rest + "<think>");
  EXPECT_EQ(with(R"("reasoning_effort":"ultra")", Dialect::kB), kBos + second + rest + "<think>");
  EXPECT_NE(with(R"("reasoning_effort":12)", Dialect::kC).find("Effort: 12 ("), std::string::npos);
  EXPECT_TRUE(with(R"("reasoning_effort":12)", Dialect::kB).starts_with("error"));
  EXPECT_TRUE(with(R"("reasoning_effort":"immense")", Dialect::kC).starts_with("error"));
}

TEST(ChatApi, ReasoningOfAllClients) {
  const auto history = [](const std::string& assistant) {
    return rendered(R"({"drop_thinking":false,"messages":[{"role":"user","content":"U"},{"role":"assistant",)" +
                        assistant + R"(},{"role":"user","content":"V"}]})",
                    Dialect::kA);
  };
  const std::string expected =
      kBos + "<｜User｜>U<｜Assistant｜><think>R</think>A" + kEos + "<｜User｜>V<｜Assistant｜><think>";
  EXPECT_EQ(history(R"("content":"A","reasoning_content":"R")"), expected);
  EXPECT_EQ(history(R"("content":"A","reasoning":"R")"), expected);
  EXPECT_EQ(history(R"("content":"<think>R</think>A")"), expected);
  EXPECT_EQ(history(R"("content":[{"type":"thinking","thinking":"R","signature":"x"},{"type":"text","text":"A"}])"),
            expected);
}

TEST(ChatApi, ToolsHaveOneOrderOfKeys) {
  const auto schemas = [](const std::string& tool, const std::string& more = "") {
    const std::string text =
        rendered(R"({"tools":[)" + tool + "]" + more + R"(,"messages":[{"role":"user","content":"U"}]})", Dialect::kA);
    const std::size_t begin = text.find("Schemas\n\n");
    return begin == std::string::npos ? text
                                      : text.substr(begin + 9, text.find("\n\nYou MUST strictly follow") - begin - 9);
  };
  const std::string expected =
      R"({"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}, "x": 1})";
  EXPECT_EQ(schemas(R"({"type":"function","function":{"x":1,"strict":true,"name":"f"}})"), expected);
  EXPECT_EQ(schemas(R"({"type":"function","name":"f","x":1})"), expected);
  EXPECT_EQ(schemas(R"({"name":"f","input_schema":{"type":"object","properties":{}},"x":1})"), expected);
  EXPECT_EQ(schemas(R"({"function":{"name":"f"}})", R"(,"tool_choice":"none")"),
            kBos + "<｜User｜>U<｜Assistant｜><think>");
  EXPECT_TRUE(schemas(R"({"function":{"name":"a b"}})").starts_with("error: tools[0]"));
  EXPECT_TRUE(schemas(R"({"function":{"name":""}})").starts_with("error: tools[0]"));
  EXPECT_TRUE(schemas(R"({"function":{"name":")" + std::string(129, 'n') + R"("}})").starts_with("error"));
  EXPECT_TRUE(
      schemas(R"({"function":{"name":"f","parameters":{"properties":{"a\"b":{}}}}})").starts_with("error: tools[0]"));
}

TEST(ChatApi, ResponseFormats) {
  const auto tail = [](const std::string& format) {
    const std::string text =
        rendered(R"({"thinking":false,"response_format":)" + format + R"(,"messages":[{"role":"user","content":"U"}]})",
                 Dialect::kA);
    const std::size_t begin = text.find("reply:\n");
    return begin == std::string::npos ? "" : text.substr(begin + 7, text.find("<｜User｜>") - begin - 7);
  };
  EXPECT_EQ(tail(R"({"type":"text"})"), "");
  EXPECT_EQ(tail(R"({"type":"json_object"})"), R"({"type": "json_object"})");
  EXPECT_EQ(tail(R"({"type":"json_schema","json_schema":{"name":"n","schema":{"type":"array"}}})"),
            R"({"type": "array"})");
  EXPECT_EQ(tail(R"({"type":"json_schema","schema":{"type":"array"}})"), R"({"type": "array"})");
}

TEST(ChatApi, WhatCannotBeShownIsRefused) {
  EXPECT_TRUE(rendered(chat(R"({"role":"user","content":[{"type":"image_url","image_url":"x"}]})"), Dialect::kA)
                  .find("cannot see images") != std::string::npos);
  EXPECT_TRUE(
      rendered(
          chat(R"({"role":"system","content":[{"type":"image_url","image_url":"x"}]},{"role":"user","content":"U"})"),
          Dialect::kC)
          .starts_with("error: messages[0]"));
  EXPECT_TRUE(
      rendered(chat(R"({"role":"user","content":[{"type":"audio"}]})"), Dialect::kC).starts_with("error: messages[0]"));
  EXPECT_EQ(
      rendered(
          chat(
              R"({"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"x"}]})"),
          Dialect::kC),
      kBos + "<｜User｜>a\n\n<｜deepseek_image｜><｜Assistant｜></think>");
}

}  // namespace
}  // namespace colibri::testing

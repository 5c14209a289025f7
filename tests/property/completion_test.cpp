// A block of tool calls that breaks off: between two calls all that the model wrote is there, inside of one it is not.

#include <colibri/chat.h>

#include <gtest/gtest.h>

#include <string>

namespace colibri::test {
namespace {

TEST(CutCompletion, IsWholeBetweenCallsOnly) {
  const std::string open = "<｜DSML｜invoke";
  const std::string close = "</｜DSML｜invoke>";
  const std::string call =
      open + " name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a</｜DSML｜parameter>\n" + close + "\n";
  const std::string text = "<｜DSML｜tool_calls>\n" + call + call + "</｜DSML｜tool_calls>";
  const std::size_t firstEnd = text.find(close) + close.size();
  const std::size_t second = text.find(open, firstEnd);
  const std::size_t secondClose = text.find(close, second);
  for (std::size_t cut = firstEnd; cut <= secondClose; ++cut) {
    if (cut > second && cut < second + open.size()) continue;  // half a tag may be the block's end as well
    CompletionParser parser(CompletionOptions{});
    (void)parser.push(text.substr(0, cut));
    (void)parser.finish(false);
    const Completion& completion = parser.completion();
    EXPECT_EQ(completion.finish, cut <= second ? "tool_calls" : "length") << "cut at byte " << cut;
    EXPECT_EQ(completion.toolCalls.size(), 1U) << "cut at byte " << cut;
  }
}

}  // namespace
}  // namespace colibri::test

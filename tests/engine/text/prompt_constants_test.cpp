// The fixed texts of the prompt format, byte for byte.

#include "text/prompt_constants.h"

#include "base/hash.h"
#include "text_goldens.h"

#include <span>

namespace colibri::testing {
namespace {

TEST(PromptConstants, LengthHashAndStoredText) {
  struct Case {
    std::string_view text;
    std::size_t bytes;
    std::string_view sha256;
    std::string_view file;
  };
  const std::vector<Case> cases{
      {prompt::kEffortMaximum, 476, "f7a24f3b3050d4a83781e9b755b316aae2ec1d9dc87562541d90bcb04d7350f7",
       "effort_v4_original_max__0731_high.txt"},
      {prompt::kEffortBeyondMaximum, 528, "53fb31b8392ec5b4a926481943efc67636748f137c1a49d493a7af4d4fa55d2c",
       "effort_v4_0731_max.txt"},
      {prompt::kToolsBlockV4, 1003, "859cd6d20fe3ce513d7cb53c88944f87a860560c6d001d910376e1d9857d0889",
       "tools_block_v4.txt"},
      {prompt::kToolsBlockV41, 997, "ed8774877c3b45a36654337a5036d51fe3db43cdf14c9d21ad185108fdc7784e",
       "tools_block_v41.txt"},
      {prompt::kResponseFormat, 88, "012f31fcc1338bdfe25b132eaf56ab020ee75ab8e649f37b30b8e5f544fb17a5",
       "response_format.txt"},
      {prompt::kEffortNumber, 97, "a7b7f9ba1901f051e4e5fbb4953fd836870a1cceb2bc5f3572cbf70696f0b4b7", "effort_v41.txt"},
  };
  for (const Case& entry : cases) {
    EXPECT_EQ(entry.text.size(), entry.bytes) << entry.file;
    EXPECT_EQ(sha256Hex(std::as_bytes(std::span(entry.text.data(), entry.text.size()))), entry.sha256) << entry.file;
    EXPECT_EQ(entry.text, goldenText("encoding/constants/" + std::string(entry.file))) << entry.file;
  }
}

}  // namespace
}  // namespace colibri::testing

#include "text/call_arguments.h"
#include "text/completion_markers.h"
#include "text/index_table.h"
#include "text/utf8.h"
#include <colibri/chat.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace colibri {
namespace {

// The rest of a tag behind its name; longer ones are taken for damaged.
constexpr std::size_t kMaxAttributes = 4096;
constexpr std::size_t kMaxKeptMarkup = std::size_t{64} << 10;

std::string callId(std::uint64_t seed, std::uint64_t number) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr int kWords = 3;
  constexpr int kDigitsAWord = 8;
  std::string id = "call_";
  for (int word = 0; word < kWords; ++word) {
    std::uint64_t bits = mixBits(mixBits(seed + 1) + number * kWords + static_cast<std::uint64_t>(word));
    for (int i = 0; i < kDigitsAWord; ++i, bits /= kDigits.size()) id += kDigits[bits % kDigits.size()];
  }
  return id;
}

// name="…" and string="…" of a tag.
struct Attributes {
  std::string name;
  bool isString = true;
};

}  // namespace

struct CompletionParser::State {
  using Marker = CompletionMarker;
  enum class Phase {
    kReasoning,
    kContent,
    kBetweenTags,
    kCallTag,
    kParameterTag,
    kValue,
    kEnded,
  };
  struct OpenCall {
    std::string name;
    CallArguments arguments;
  };

  explicit State(const CompletionOptions& given)
      : options(given), types(given.tools), phase(given.startsInReasoning ? Phase::kReasoning : Phase::kContent) {}

  CompletionDelta push(std::string_view text) {
    bytes += text;
    bytes.erase(0, appendLossy(bytes, /*holdIncomplete=*/true, buffer));
    return run(/*atEnd=*/false);
  }

  CompletionDelta finish(bool truncated) {
    // Half a character of the mark belongs to a tag that was cut.
    if (!isCutTag(buffer)) appendLossy(bytes, /*holdIncomplete=*/false, buffer);
    bytes.clear();
    CompletionDelta delta = run(/*atEnd=*/true);
    const bool inBlock = phase != Phase::kReasoning && phase != Phase::kContent && phase != Phase::kEnded;
    // A block that stops between two calls has all that the model wrote; one that stops inside of a call was cut.
    const bool unfinished = inBlock && (call || phase == Phase::kCallTag || all.toolCalls.empty());
    const bool cut = phase != Phase::kEnded && (truncated || unfinished);
    all.finish = cut ? "length" : (all.toolCalls.empty() ? "stop" : "tool_calls");
    if (all.toolCalls.empty()) all.unreadMarkup = std::move(markup);
    call.reset();
    phase = Phase::kEnded;
    return delta;
  }

  // --- One pass over what is there ---

  CompletionDelta run(bool atEnd) {
    CompletionDelta delta;
    out = &delta;
    used = 0;
    while (used < buffer.size() && step(atEnd)) {
    }
    if (atEnd && phase == Phase::kContent) flushLineFeeds();
    out = nullptr;
    buffer.erase(0, used);
    return delta;
  }

  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer).substr(used); }

  // Uses some of the buffer. False when more text is needed.
  bool step(bool atEnd) {
    switch (phase) {
      case Phase::kReasoning:
      case Phase::kContent:
        return textStep(atEnd);
      case Phase::kBetweenTags:
        return betweenStep(atEnd);
      case Phase::kCallTag:
      case Phase::kParameterTag:
        return attributeStep();
      case Phase::kValue:
        return valueStep();
      case Phase::kEnded:
        used = buffer.size();
        return false;
    }
    return false;
  }

  // --- Reasoning and content ---

  bool textStep(bool atEnd) {
    const std::string_view text = rest();
    const std::size_t plain = std::min(text.find_first_of("\n<"), text.size());
    if (plain > 0) {
      say(text.substr(0, plain));
      used += plain;
      return true;
    }
    if (text.front() == '\n') {
      // Counted, not kept: whether they are text shows when something follows.
      ++lineFeeds;
      ++used;
      return true;
    }
    const Marker marker = matchMarker(text);
    if (marker.state == Marker::State::kPartial) {
      if (!atEnd) return false;
      if (options.toolsOffered && isCutTag(text)) {
        // The text was cut inside the first tag of a block. It is not shown, as a whole tag would not be.
        lineFeeds = 0;
        phase = Phase::kBetweenTags;
        use(text.size());
        return true;
      }
    }
    if (marker.state != Marker::State::kFull || !textMarker(marker)) {
      say(text.substr(0, 1));
      ++used;
    }
    return true;
  }

  // Whether the start of a marker shows already that a tag was meant.
  static bool isCutTag(std::string_view text) {
    if (!text.starts_with('<')) return false;
    text.remove_prefix(text.starts_with("</") ? 2 : 1);
    return text.starts_with("｜D") || text.starts_with("|DSML|");
  }

  // A marker inside text. False when it is text itself.
  bool textMarker(const Marker& marker) {
    const bool reasoning = phase == Phase::kReasoning;
    switch (marker.kind) {
      case Marker::Kind::kThinkOpen:
        if (!reasoning) return false;
        break;
      case Marker::Kind::kThinkClose:
        if (reasoning) {
          lineFeeds = 0;
          phase = Phase::kContent;
        }
        break;
      case Marker::Kind::kEndOfTurn:
        if (!reasoning) flushLineFeeds();
        phase = Phase::kEnded;
        break;
      case Marker::Kind::kTag:
        return textTag(marker);
    }
    used += marker.length;
    return true;
  }

  bool textTag(const Marker& marker) {
    const bool block = marker.tag == Marker::Tag::kBlock && !marker.closing;
    const bool opens = block || (marker.tag == Marker::Tag::kCall && !marker.closing);
    // Reasoning may talk about look-alikes and single tags. In content a genuine mark is never meant as text.
    const bool starts = phase == Phase::kReasoning ? block && marker.genuine : opens || marker.genuine;
    if (!starts) return false;
    if (!options.toolsOffered) {
      if (phase == Phase::kReasoning) return false;
      const std::size_t bracket = marker.closing ? 2 : 1;
      say(rest().substr(0, bracket));
      used += bracket + marker.markLength;
      return true;
    }
    lineFeeds = 0;
    phase = Phase::kBetweenTags;  // which reads the same tag again
    return true;
  }

  std::string& channel() { return phase == Phase::kReasoning ? all.reasoning : all.content; }

  void say(std::string_view text) {
    flushLineFeeds();
    channel() += text;
    (phase == Phase::kReasoning ? out->reasoning : out->content) += text;
  }

  void flushLineFeeds() {
    if (lineFeeds == 0) return;
    const std::string held(std::exchange(lineFeeds, 0), '\n');
    // Leading ones are dropped.
    if (!channel().empty()) say(held);
  }

  // --- Calls ---

  void use(std::size_t count) {
    if (markup.size() < kMaxKeptMarkup) markup += rest().substr(0, std::min(count, kMaxKeptMarkup - markup.size()));
    used += count;
    scanned = 0;
  }

  bool betweenStep(bool atEnd) {
    const std::string_view text = rest();
    const std::size_t skipped = std::min(text.find('<'), text.size());
    if (skipped > 0) {
      use(skipped);
      return true;
    }
    const Marker marker = matchMarker(text);
    if (marker.state == Marker::State::kPartial && !atEnd) return false;
    if (marker.state != Marker::State::kFull) {
      use(1);
      return true;
    }
    if (marker.kind == Marker::Kind::kEndOfTurn) phase = Phase::kEnded;
    if (marker.kind == Marker::Kind::kTag) tag(marker);
    use(marker.length);
    return true;
  }

  void tag(const Marker& marker) {
    switch (marker.tag) {
      case Marker::Tag::kBlock:
        if (!marker.closing) return;
        completeCall();
        phase = Phase::kEnded;
        return;
      case Marker::Tag::kCall:
        completeCall();  // one that was not closed ends where the next begins
        if (!marker.closing) phase = Phase::kCallTag;
        return;
      case Marker::Tag::kParameter:
        if (!marker.closing && call) {
          phase = Phase::kParameterTag;
          genuine = marker.genuine;
        }
        return;
      case Marker::Tag::kUnknown:
        return;
    }
  }

  bool attributeStep() {
    const std::string_view text = rest().substr(0, kMaxAttributes);
    const std::size_t quote = text.find('"');
    const std::size_t early = text.find('>');
    std::size_t end = std::string_view::npos;
    if (early < quote) return damagedTag();  // no name
    const std::size_t second = quote == std::string_view::npos ? quote : text.find('"', quote + 1);
    if (second != std::string_view::npos) end = text.find('>', second);
    if (end == std::string_view::npos) {
      return text.size() < kMaxAttributes ? false : damagedTag();
    }
    attributes.name = text.substr(quote + 1, second - quote - 1);
    if (attributes.name.find('\n') != std::string::npos) return damagedTag();
    attributes.isString = text.substr(second, end - second).find("false") == std::string_view::npos;
    if (phase == Phase::kCallTag) {
      call.emplace().name = attributes.name;
      phase = Phase::kBetweenTags;
    } else {
      phase = Phase::kValue;
    }
    use(end + 1);
    return true;
  }

  // A call whose name or parameter cannot be read is not delivered at all: half of its arguments could do harm.
  bool damagedTag() {
    call.reset();
    phase = Phase::kBetweenTags;
    return true;
  }

  bool valueStep() {
    const std::string_view text = rest();
    for (std::size_t at = text.find('<', scanned); at != std::string_view::npos; at = text.find('<', at + 1)) {
      const Marker marker = matchMarker(text.substr(at));
      scanned = at;
      if (marker.state == Marker::State::kPartial) return false;
      const bool closes = marker.state == Marker::State::kFull && marker.kind == Marker::Kind::kTag && marker.closing &&
                          marker.tag == Marker::Tag::kParameter && marker.genuine == genuine;
      if (!closes) continue;
      call->arguments.add(call->name, attributes.name, text.substr(0, at), attributes.isString, types);
      phase = Phase::kBetweenTags;
      use(at + marker.length);
      return true;
    }
    scanned = text.size();
    return false;
  }

  void completeCall() {
    if (!call) return;
    ToolCall done{callId(options.idSeed, all.toolCalls.size()), call->name, call->arguments.json()};
    call.reset();
    out->completedCalls.push_back(done);
    all.toolCalls.push_back(std::move(done));
  }

  CompletionOptions options;
  ParameterTypes types;
  Phase phase;
  Completion all;
  std::string bytes;   ///< an incomplete character
  std::string buffer;  ///< text that is not decided yet
  std::size_t used = 0;
  std::size_t lineFeeds = 0;  ///< held back
  std::size_t scanned = 0;    ///< of the rest: known to hold no end of the value
  std::optional<OpenCall> call;
  Attributes attributes;
  bool genuine = false;  ///< mark of the open parameter
  std::string markup;
  CompletionDelta* out = nullptr;  ///< of the running pass
};

CompletionParser::CompletionParser(bool startsInReasoning)
    : CompletionParser([&] {
        CompletionOptions options;
        options.startsInReasoning = startsInReasoning;
        return options;
      }()) {}
CompletionParser::CompletionParser(const CompletionOptions& options) : m_state(std::make_unique<State>(options)) {}
CompletionParser::~CompletionParser() = default;
CompletionParser::CompletionParser(CompletionParser&&) noexcept = default;
CompletionParser& CompletionParser::operator=(CompletionParser&&) noexcept = default;

CompletionDelta CompletionParser::push(std::string_view text) {
  return m_state->push(text);
}
CompletionDelta CompletionParser::finish(bool truncated) {
  return m_state->finish(truncated);
}
const Completion& CompletionParser::completion() const {
  return m_state->all;
}
bool CompletionParser::inReasoning() const {
  return m_state->phase == State::Phase::kReasoning;
}

}  // namespace colibri

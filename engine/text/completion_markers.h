#pragma once
// The strings that steer the reading of generated text.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace colibri {

/// A marker that begins with '<'.
struct CompletionMarker {
  enum class State : std::uint8_t {
    kNone,     ///< the text is no marker
    kPartial,  ///< the text ends inside what may still become one
    kFull,
  };
  enum class Kind : std::uint8_t { kThinkOpen, kThinkClose, kEndOfTurn, kTag };
  enum class Tag : std::uint8_t { kBlock, kCall, kParameter, kUnknown };

  State state = State::kNone;
  Kind kind = Kind::kTag;
  std::size_t length = 0;  ///< bytes of the whole marker; a tag's ends with its name
  // For kTag:
  Tag tag = Tag::kUnknown;
  bool closing = false;
  bool genuine = false;        ///< the mark has its fullwidth bars, not ASCII look-alikes
  std::size_t markLength = 0;  ///< bytes of the mark, which stands behind "<" or "</"
};

/// Looks at the start of `text`, which begins with '<'. Tags of both dialects and their ASCII look-alikes are known.
[[nodiscard]] CompletionMarker matchMarker(std::string_view text);

}  // namespace colibri

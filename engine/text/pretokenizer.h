#pragma once
// Cuts text into the pieces that BPE works on: the Split steps of tokenizer.json, run with PCRE2.

#include <colibri/status.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// Immutable after creation; thread-safe.
class Pretokenizer {
public:
  /// Receives a piece; it points into the text given to `split`.
  using Sink = std::function<void(std::string_view piece)>;

  /// `patterns`: the regular expressions of the Split steps, each "Isolated", in order. kCheckpoint
  /// "tokenizer_invalid".
  static Result<Pretokenizer> create(std::span<const std::string> patterns);
  Pretokenizer(Pretokenizer&&) noexcept;
  Pretokenizer& operator=(Pretokenizer&&) noexcept;
  ~Pretokenizer();

  /// Pieces of `text` in order; together they are the text. A byte that is not part of valid UTF-8 is a piece of its
  /// own and ends the text before it. Time is linear in the text. Throws std::bad_alloc like any container when memory
  /// is out.
  void split(std::string_view text, const Sink& sink) const;

private:
  struct Pattern;
  class Run;
  Pretokenizer();
  std::vector<Pattern> m_patterns;
};

}  // namespace colibri

#include "text/pretokenizer.h"

#include "text/unicode_supplement.h"
#include "text/utf8.h"

#include <cstdint>
#include <limits>
#include <new>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace colibri {
namespace {

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using CompiledPattern = std::unique_ptr<pcre2_code, Freed<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>>;

// The patterns only repeat single characters and are never nested, so neither arm needs stack in proportion to the
// text; the limits are lifted because backing off over a run of white space counts once a character.
MatchContext unlimitedContext() {
  MatchContext context(pcre2_match_context_create(nullptr));
  if (!context) throw std::bad_alloc();
  pcre2_set_match_limit(context.get(), std::numeric_limits<std::uint32_t>::max());
  pcre2_set_depth_limit(context.get(), std::numeric_limits<std::uint32_t>::max());
  return context;
}

}  // namespace

struct Pretokenizer::Pattern {
  CompiledPattern code;
};

// One call of split: the scratch that PCRE2 wants a thread to own.
class Pretokenizer::Run {
public:
  Run(const std::vector<Pattern>& patterns, const Sink& sink)
      : m_patterns(patterns), m_sink(sink), m_data(pcre2_match_data_create(1, nullptr)), m_context(unlimitedContext()) {
    if (!m_data) throw std::bad_alloc();
  }

  // `subject` is valid UTF-8 of the same length as `original`; pieces are cut out of `original`.
  void text(std::string_view original, std::string_view subject) {
    m_original = original;
    m_subject = subject;
    step(0, 0, subject.size());
  }

private:
  // Step number `index` over [begin, end), which is a whole text to it: nothing outside is looked at.
  void step(std::size_t index, std::size_t begin, std::size_t end) {
    if (begin == end) return;
    if (index == m_patterns.size()) {
      m_sink(m_original.substr(begin, end - begin));
      return;
    }
    std::size_t done = begin;
    while (done < end) {
      std::size_t first = 0;
      std::size_t last = 0;
      if (!next(index, begin, end, done, first, last)) break;
      step(index + 1, done, first);
      step(index + 1, first, last);
      done = last;
    }
    step(index + 1, done, end);
  }

  bool next(std::size_t index, std::size_t begin, std::size_t end, std::size_t from, std::size_t& first,
            std::size_t& last) {
    const auto match = [&](std::uint32_t options) {
      return pcre2_match(m_patterns[index].code.get(), reinterpret_cast<PCRE2_SPTR>(m_subject.data() + begin),
                         end - begin, from - begin, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | options, m_data.get(),
                         m_context.get());
    };
    int rc = match(0);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) rc = match(PCRE2_NO_JIT);
    if (rc == PCRE2_ERROR_NOMATCH) return false;
    if (rc < 0) throw std::bad_alloc();  // no other cause is left: the text is valid and the limits are lifted
    const PCRE2_SIZE* found = pcre2_get_ovector_pointer(m_data.get());
    first = begin + found[0];
    last = begin + found[1];
    return true;
  }

  const std::vector<Pattern>& m_patterns;
  const Sink& m_sink;
  MatchData m_data;
  MatchContext m_context;
  std::string_view m_original;
  std::string_view m_subject;
};

Pretokenizer::Pretokenizer() = default;
Pretokenizer::Pretokenizer(Pretokenizer&&) noexcept = default;
Pretokenizer& Pretokenizer::operator=(Pretokenizer&&) noexcept = default;
Pretokenizer::~Pretokenizer() = default;

Result<Pretokenizer> Pretokenizer::create(std::span<const std::string> patterns) {
  Pretokenizer made;
  for (const std::string& pattern : patterns) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    CompiledPattern code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                       PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
    if (!code) {
      return Status(Code::kCheckpoint, "tokenizer_invalid",
                    "The tokenizer's pattern \"" + pattern + "\" cannot be compiled (PCRE2 error " +
                        std::to_string(error) + " at byte " + std::to_string(offset) + ").");
    }
    // Without JIT (a kernel that forbids executable memory) matching still works, only slower.
    (void)pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
    made.m_patterns.push_back(Pattern{std::move(code)});
  }
  return made;
}

void Pretokenizer::split(std::string_view text, const Sink& sink) const {
  if (text.empty()) return;
  Run run(m_patterns, sink);
  std::size_t begin = 0;
  std::size_t position = 0;
  std::string replaced;  // the text with stand-ins, made when the first one is needed
  const auto finish = [&](std::size_t end) {
    const std::string_view subject = replaced.empty() ? text : std::string_view(replaced);
    run.text(text.substr(begin, end - begin), subject.substr(begin, end - begin));
  };
  while ((position = skipAscii(text, position)) < text.size()) {
    const Utf8Char c = readUtf8(text, position);
    if (c.kind != Utf8Char::Kind::kValid) {
      finish(position);
      for (std::size_t i = 0; i < c.length; ++i) sink(text.substr(position + i, 1));
      position += c.length;
      begin = position;
      continue;
    }
    if (c.codePoint >= kFirstStandIn) {
      const std::string_view standIn = patternStandIn(c.codePoint);
      if (!standIn.empty()) {
        if (replaced.empty()) replaced.assign(text);
        replaced.replace(position, standIn.size(), standIn);
      }
    }
    position += c.length;
  }
  finish(text.size());
}

}  // namespace colibri

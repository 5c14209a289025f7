#include "text/utf8.h"
#include <colibri/tokenizer.h>

namespace colibri {

std::string StreamingDetokenizer::push(TokenId id) {
  if (m_skipSpecial && m_tokenizer->isSpecial(id)) return {};
  const std::string_view token = m_tokenizer->bytes(id);
  m_held += token.empty() ? kReplacementCharacter : token;
  std::string text;
  m_held.erase(0, appendLossy(m_held, /*holdIncomplete=*/true, text));
  return text;
}

std::string StreamingDetokenizer::finish() {
  std::string text;
  appendLossy(m_held, /*holdIncomplete=*/false, text);
  m_held.clear();
  return text;
}

}  // namespace colibri

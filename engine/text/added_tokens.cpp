#include "text/added_tokens.h"

namespace colibri {

std::uint32_t AddedTokens::childOf(std::uint32_t node, char byte) const {
  std::uint32_t child = m_nodes[node].child;
  while (child != kNone && m_nodes[child].byte != byte) child = m_nodes[child].sibling;
  return child;
}

bool AddedTokens::add(std::string_view text, TokenId id) {
  std::uint32_t node = 0;
  for (const char byte : text) {
    std::uint32_t child = childOf(node, byte);
    if (child == kNone) {
      child = static_cast<std::uint32_t>(m_nodes.size());
      m_nodes.push_back({kNone, m_nodes[node].child, kNoToken, byte});
      m_nodes[node].child = child;
    }
    node = child;
  }
  if (m_nodes[node].id != kNoToken) return false;
  m_nodes[node].id = id;
  m_starts[static_cast<unsigned char>(text.front())] = true;
  return true;
}

std::optional<TokenId> AddedTokens::find(std::string_view text) const {
  std::uint32_t node = 0;
  for (const char byte : text) {
    node = childOf(node, byte);
    if (node == kNone) return std::nullopt;
  }
  if (m_nodes[node].id == kNoToken) return std::nullopt;
  return m_nodes[node].id;
}

std::optional<AddedTokens::Match> AddedTokens::next(std::string_view text, std::size_t from) const {
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    if (!m_starts[static_cast<unsigned char>(text[begin])]) continue;
    std::optional<Match> longest;
    std::uint32_t node = 0;
    for (std::size_t end = begin; end < text.size();) {
      node = childOf(node, text[end]);
      if (node == kNone) break;
      ++end;
      if (m_nodes[node].id != kNoToken) longest = Match{begin, end - begin, m_nodes[node].id};
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

}  // namespace colibri

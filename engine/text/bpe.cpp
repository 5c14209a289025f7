#include "text/bpe.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace colibri {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

std::uint64_t pairHash(TokenId left, TokenId right) {
  return mixBits((static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U) |
                 static_cast<std::uint32_t>(right));
}

}  // namespace

Bpe::Bpe(const std::array<TokenId, 256>& byteIds, std::vector<Merge> merges)
    : m_byteIds(byteIds), m_merges(std::move(merges)), m_index(m_merges.size()) {
  for (std::uint32_t rank = 0; rank < m_merges.size(); ++rank) {
    const Merge& merge = m_merges[rank];
    const auto same = [&](std::uint32_t row) {
      return m_merges[row].left == merge.left && m_merges[row].right == merge.right;
    };
    if (m_index.add(pairHash(merge.left, merge.right), rank, same) != IndexTable::Added::kNew) m_consistent = false;
  }
}

std::uint32_t Bpe::rankOf(TokenId left, TokenId right) const {
  return m_index
      .find(pairHash(left, right),
            [&](std::uint32_t row) { return m_merges[row].left == left && m_merges[row].right == right; })
      .value_or(kNone);
}

void Bpe::encode(std::string_view piece, Scratch& scratch, std::vector<TokenId>& ids) const {
  const auto idOf = [&](std::size_t i) { return m_byteIds[static_cast<unsigned char>(piece[i])]; };
  if (piece.size() == 1) {
    ids.push_back(idOf(0));
    return;
  }
  auto& nodes = scratch.m_nodes;
  auto& heap = scratch.m_heap;
  const auto count = static_cast<std::uint32_t>(piece.size());
  nodes.resize(count);
  heap.clear();
  const auto entry = [](std::uint32_t rank, std::uint32_t position) {
    return (static_cast<std::uint64_t>(rank) << 32U) | position;
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    nodes[i] = {idOf(i), i == 0 ? kNone : i - 1, last ? kNone : i + 1, last ? kNone : rankOf(idOf(i), idOf(i + 1))};
    if (nodes[i].rank != kNone) heap.push_back(entry(nodes[i].rank, i));
  }
  const auto byRank = std::greater<>();
  std::make_heap(heap.begin(), heap.end(), byRank);
  const auto refresh = [&](std::uint32_t position) {
    Scratch::Node& node = nodes[position];
    node.rank = node.next == kNone ? kNone : rankOf(node.id, nodes[node.next].id);
    if (node.rank == kNone) return;
    heap.push_back(entry(node.rank, position));
    std::push_heap(heap.begin(), heap.end(), byRank);
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), byRank);
    const std::uint64_t top = heap.back();
    heap.pop_back();
    const auto position = static_cast<std::uint32_t>(top);
    Scratch::Node& node = nodes[position];
    // An entry is stale when the pair at its place has changed since; absorbed nodes have no rank.
    if (node.rank != static_cast<std::uint32_t>(top >> 32U)) continue;
    Scratch::Node& absorbed = nodes[node.next];
    node.id = m_merges[node.rank].result;
    node.next = absorbed.next;
    absorbed.rank = kNone;
    if (node.next != kNone) nodes[node.next].previous = position;
    refresh(position);
    if (node.previous != kNone) refresh(node.previous);
  }
  for (std::uint32_t i = 0; i != kNone; i = nodes[i].next) ids.push_back(nodes[i].id);
}

}  // namespace colibri

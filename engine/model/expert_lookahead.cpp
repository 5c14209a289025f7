#include "model/expert_lookahead.h"

#include <algorithm>
#include <tuple>

namespace colibri {

void ExpertLookahead::begin(const ModelContext& model, std::span<const TokenId> tokens) {
  m_tokens.assign(tokens.begin(), tokens.end());
  m_layer = 0;
  m_first = 0;
  model.experts.startRound();
  ask(model);
}

void ExpertLookahead::advance(const ModelContext& model, int layer, int first) {
  const int next = first + model.work.limits.chunk;
  if (std::tie(layer, next) > std::tie(m_layer, m_first)) {
    m_layer = layer;
    m_first = next;
  }
  ask(model);
}

void ExpertLookahead::collect(const ModelContext& model, int rows) {
  const auto k = static_cast<std::size_t>(model.config.expertsPerToken);
  const std::vector<std::int32_t>& table = model.weights.layers[static_cast<std::size_t>(m_layer)].hashTable;
  m_experts.clear();
  for (int row = 0; row < rows; ++row) {
    const auto token = static_cast<std::size_t>(*(m_tokens.begin() + m_first + row));
    m_experts.insert(m_experts.end(), table.begin() + static_cast<std::ptrdiff_t>(token * k),
                     table.begin() + static_cast<std::ptrdiff_t>((token + 1) * k));
  }
  std::sort(m_experts.begin(), m_experts.end());
  m_experts.erase(std::unique(m_experts.begin(), m_experts.end()), m_experts.end());
}

void ExpertLookahead::ask(const ModelContext& model) {
  const int total = static_cast<int>(m_tokens.size());
  for (; m_layer < model.config.layers; ++m_layer, m_first = 0) {
    if (model.plan.layers[static_cast<std::size_t>(m_layer)].router != RouterKind::kHash) continue;
    for (; m_first < total; m_first += model.work.limits.chunk) {
      collect(model, std::min(model.work.limits.chunk, total - m_first));
      // Without room the rest of this pass is asked for again later; what is on its way costs nothing then.
      if (model.experts.prefetch(m_layer, m_experts, ReadPriority::kCertain) < m_experts.size()) return;
    }
  }
}

}  // namespace colibri

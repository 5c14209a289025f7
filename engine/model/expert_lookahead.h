#pragma once
// Expert reads that are certain ahead of time: where a table routes by token id, a pass's experts are known as soon as
// its tokens are.

#include "model/pass.h"
#include <colibri/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace colibri {

/// Walks over the passes of one forward call in their order (layers, in each its chunks) and asks the store for the
/// experts of those that a table routes, as far ahead as it has room. Never changes a result. Leader thread only.
class ExpertLookahead {
public:
  /// These tokens are computed next; nothing of an earlier call counts any more. The span is copied.
  void begin(const ModelContext& model, std::span<const TokenId> tokens);
  /// The pass of `layer` from row `first` on has its experts; goes on with later ones.
  void advance(const ModelContext& model, int layer, int first);

private:
  void ask(const ModelContext& model);
  /// Distinct experts of the rows from m_first on, ascending, into m_experts.
  void collect(const ModelContext& model, int rows);

  std::vector<TokenId> m_tokens;
  std::vector<int> m_experts;
  int m_layer = 0;  ///< the next pass to ask for
  int m_first = 0;
};

}  // namespace colibri

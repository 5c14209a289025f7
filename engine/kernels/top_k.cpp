#include "kernels/kernels.h"

#include <algorithm>

namespace colibri {

void topK(const float* values, int n, int k, int* ids) {
  if (k <= 0) return;
  // `ids` is a heap whose front is the worst of the best k so far; indices come ascending, so an equal value never
  // displaces one.
  const auto better = [values](int a, int b) { return values[a] > values[b] || (values[a] == values[b] && a < b); };
  for (int i = 0; i < k; ++i) ids[i] = i;
  std::make_heap(ids, ids + k, better);
  for (int i = k; i < n; ++i) {
    if (!(values[i] > values[ids[0]])) continue;
    std::pop_heap(ids, ids + k, better);
    ids[k - 1] = i;
    std::push_heap(ids, ids + k, better);
  }
  std::sort_heap(ids, ids + k, better);
}

}  // namespace colibri

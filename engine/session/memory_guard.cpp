#include "session/memory_guard.h"

#include "base/units.h"

namespace colibri {

std::string MemoryGuard::check(ExpertStore& experts, const std::function<std::uint64_t()>& spare) {
  const std::uint64_t held = m_memory.sample();
  if (held <= m_allowed) return {};
  const std::uint64_t spared = spare();
  if (held - m_allowed <= spared) {
    (void)m_memory.sampleNow();
    return {};
  }
  const std::uint64_t freed = experts.shrink(held - m_allowed - spared);
  if (freed == 0) return {};
  (void)m_memory.sampleNow();
  return "The process held " + binarySize(held) + ", more than the budget allows, so the expert cache gave " +
         binarySize(freed) + " back and goes on with " + std::to_string(experts.slots()) + " slots.";
}

}  // namespace colibri

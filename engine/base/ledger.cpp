#include "base/ledger.h"

namespace colibri {

std::string_view memoryTagName(MemoryTag tag) {
  switch (tag) {
    case MemoryTag::kDense:
      return "dense";
    case MemoryTag::kHead:
      return "head";
    case MemoryTag::kVision:
      return "vision";
    case MemoryTag::kDraft:
      return "draft";
    case MemoryTag::kKv:
      return "kv";
    case MemoryTag::kScratch:
      return "scratch";
    case MemoryTag::kPinned:
      return "pinned";
    case MemoryTag::kEngramCache:
      return "engram_cache";
    case MemoryTag::kExpertCache:
      return "expert_cache";
    case MemoryTag::kCheckpoints:
      return "checkpoints";
    case MemoryTag::kReserve:
      return "reserve";
    case MemoryTag::kCount:
      break;
  }
  return "unknown";
}

void Ledger::add(MemoryTag tag, std::int64_t bytes) {
  m_bytes[static_cast<std::size_t>(tag)].fetch_add(bytes, std::memory_order_relaxed);
  const std::int64_t now = total();
  std::int64_t peak = m_peak.load(std::memory_order_relaxed);
  while (now > peak && !m_peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

std::int64_t Ledger::bytes(MemoryTag tag) const {
  return m_bytes[static_cast<std::size_t>(tag)].load(std::memory_order_relaxed);
}

std::int64_t Ledger::total() const {
  std::int64_t sum = 0;
  for (const auto& part : m_bytes) sum += part.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace colibri

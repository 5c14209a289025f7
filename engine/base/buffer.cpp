#include "base/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace colibri {
namespace {
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}  // namespace

Result<Buffer> Buffer::allocate(std::size_t size, MemoryTag tag, std::shared_ptr<Ledger> ledger) {
  Buffer buffer;
  if (size == 0) return buffer;
  const std::size_t alignment = size >= kHugePage ? kHugePage : kPage;
  const std::size_t mapped = (size + alignment - 1) / alignment * alignment;
  void* data = mapped < size ? nullptr : ::operator new(mapped, std::align_val_t(alignment), std::nothrow);
  if (data == nullptr) {
    return Status(Code::kMemory, "out_of_memory",
                  "The system has no " + std::to_string(size) + " bytes left for " + std::string(memoryTagName(tag)) +
                      ". Close other programs or lower --ram.");
  }
#if defined(__linux__)
  // Direct reads into small pages ran at half the rate (docs/performance.md).
  if (alignment == kHugePage) (void)madvise(data, mapped, MADV_HUGEPAGE);
#endif
  std::memset(data, 0, mapped);
  buffer.m_data = static_cast<std::byte*>(data);
  buffer.m_size = size;
  buffer.m_mapped = mapped;
  buffer.m_tag = tag;
  buffer.m_ledger = std::move(ledger);
  if (buffer.m_ledger) buffer.m_ledger->add(tag, static_cast<std::int64_t>(mapped));
  return buffer;
}

Buffer::~Buffer() {
  if (m_data == nullptr) return;
  if (m_ledger) m_ledger->add(m_tag, -static_cast<std::int64_t>(m_mapped));
  ::operator delete(m_data, std::align_val_t(m_size >= kHugePage ? kHugePage : kPage));
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(m_data, other.m_data);
  std::swap(m_size, other.m_size);
  std::swap(m_mapped, other.m_mapped);
  std::swap(m_tag, other.m_tag);
  std::swap(m_ledger, other.m_ledger);
}

}  // namespace colibri

#include "base/buffer.h"

#include <algorithm>
#include <cstdint>
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

std::size_t alignmentOf(std::size_t size) {
  return size >= kHugePage ? kHugePage : kPage;
}

/// `size` rounded up to its alignment; 0 when that is not a number any more.
std::size_t heldBytes(std::size_t size) {
  const std::size_t alignment = alignmentOf(size);
  const std::size_t held = (size + alignment - 1) / alignment * alignment;
  return held < size ? 0 : held;
}

Status outOfMemory(std::size_t size, MemoryTag tag) {
  return Status(Code::kMemory, "out_of_memory",
                "The system has no " + std::to_string(size) + " bytes left for " + std::string(memoryTagName(tag)) +
                    ". Close other programs or lower --ram.");
}

void adviseHugePages(void* data, std::size_t held) {
#if defined(__linux__)
  // Direct reads into small pages ran at half the rate (docs/performance.md).
  if (held >= kHugePage) (void)madvise(data, held, MADV_HUGEPAGE);
#else
  (void)data;
  (void)held;
#endif
}

}  // namespace

void Buffer::adopt(void* data, std::size_t size, std::size_t held, MemoryTag tag, std::shared_ptr<Ledger> ledger) {
  m_data = static_cast<std::byte*>(data);
  m_size = size;
  m_held = held;
  m_charged = held;
  m_tag = tag;
  m_ledger = std::move(ledger);
  if (m_ledger) m_ledger->add(tag, static_cast<std::int64_t>(held));
}

Result<Buffer> Buffer::allocate(std::size_t size, MemoryTag tag, std::shared_ptr<Ledger> ledger) {
  Buffer buffer;
  if (size == 0) return buffer;
  const std::size_t held = heldBytes(size);
  void* data = held == 0 ? nullptr : ::operator new(held, std::align_val_t(alignmentOf(size)), std::nothrow);
  if (data == nullptr) return outOfMemory(size, tag);
  adviseHugePages(data, held);
  std::memset(data, 0, held);
  buffer.adopt(data, size, held, tag, std::move(ledger));
  return buffer;
}

#if defined(__linux__)
Result<Buffer> Buffer::allocateUntouched(std::size_t size, MemoryTag tag, std::shared_ptr<Ledger> ledger) {
  Buffer buffer;
  if (size == 0) return buffer;
  const std::size_t alignment = alignmentOf(size);
  const std::size_t held = heldBytes(size);
#if defined(MAP_HUGETLB)
  // Pages that the administrator set aside; the mapping is refused when there are not enough of them.
  if (alignment == kHugePage && held != 0) {
    void* huge = mmap(nullptr, held, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (huge != MAP_FAILED) {
      buffer.m_isMapping = true;
      buffer.m_pageBytes = kHugePage;
      buffer.adopt(huge, size, held, tag, std::move(ledger));
      return buffer;
    }
  }
#endif
  // mmap aligns to small pages only: map one alignment more and give the ends back.
  const std::size_t wide = held + alignment;
  if (held == 0 || wide < held) return outOfMemory(size, tag);
  void* mapping = mmap(nullptr, wide, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return outOfMemory(size, tag);
  auto* first = static_cast<std::byte*>(mapping);
  const std::size_t head = (alignment - reinterpret_cast<std::uintptr_t>(first) % alignment) % alignment;
  if (head != 0) (void)munmap(first, head);
  (void)munmap(first + head + held, alignment - head);
  adviseHugePages(first + head, held);
  buffer.m_isMapping = true;
  buffer.adopt(first + head, size, held, tag, std::move(ledger));
  return buffer;
}
#else
Result<Buffer> Buffer::allocateUntouched(std::size_t size, MemoryTag tag, std::shared_ptr<Ledger> ledger) {
  return allocate(size, tag, std::move(ledger));
}
#endif

bool Buffer::discard([[maybe_unused]] std::size_t offset, [[maybe_unused]] std::size_t size) {
#if defined(__linux__)
  if (!m_isMapping || offset > m_size || size > m_held - offset) return false;
  const std::size_t first = (offset + m_pageBytes - 1) / m_pageBytes * m_pageBytes;
  const std::size_t last = (offset + size) / m_pageBytes * m_pageBytes;
  if (first >= last || madvise(m_data + first, last - first, MADV_DONTNEED) != 0) return false;
  const std::size_t charge = std::min(last - first, m_charged);
  m_charged -= charge;
  if (m_ledger) m_ledger->add(m_tag, -static_cast<std::int64_t>(charge));
  return true;
#else
  return false;
#endif
}

Buffer::~Buffer() {
  if (m_data == nullptr) return;
  if (m_ledger) m_ledger->add(m_tag, -static_cast<std::int64_t>(m_charged));
#if defined(__linux__)
  if (m_isMapping) {
    (void)munmap(m_data, m_held);
    return;
  }
#endif
  ::operator delete(m_data, std::align_val_t(alignmentOf(m_size)));
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(m_data, other.m_data);
  std::swap(m_size, other.m_size);
  std::swap(m_held, other.m_held);
  std::swap(m_charged, other.m_charged);
  std::swap(m_isMapping, other.m_isMapping);
  std::swap(m_pageBytes, other.m_pageBytes);
  std::swap(m_tag, other.m_tag);
  std::swap(m_ledger, other.m_ledger);
}

}  // namespace colibri

#pragma once
// Aligned memory that is charged to the ledger for as long as it lives.

#include "base/ledger.h"
#include <colibri/status.h>
#include <colibri/types.h>

#include <cstddef>
#include <memory>
#include <span>

namespace colibri {

/// Owns `size` zeroed bytes, aligned to 4 KiB (2 MiB and advised for huge pages from 2 MiB on). Move-only.
class Buffer {
public:
  Buffer() = default;
  /// kMemory error when the system refuses; `ledger` (may be null) must outlive the buffer.
  static Result<Buffer> allocate(std::size_t size, MemoryTag tag, std::shared_ptr<Ledger> ledger);
  /// As allocate(), in pages of a hugetlb pool where there are enough, and no page is touched: bytes read as zero and
  /// take RAM only once they are written. For large caches.
  static Result<Buffer> allocateUntouched(std::size_t size, MemoryTag tag, std::shared_ptr<Ledger> ledger);
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  /// Gives the pages of [offset, offset + size) back to the system, both multiples of 4 KiB, and takes them off the
  /// ledger; they must not be used again. Pages that reach beyond the range stay. Only for allocateUntouched(); false
  /// where the system cannot.
  bool discard(std::size_t offset, std::size_t size);

  [[nodiscard]] std::byte* data() const { return m_data; }
  [[nodiscard]] std::size_t size() const { return m_size; }
  template <typename T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(m_data);
  }

private:
  void swap(Buffer& other) noexcept;
  void adopt(void* data, std::size_t size, std::size_t held, MemoryTag tag, std::shared_ptr<Ledger> ledger);

  std::byte* m_data = nullptr;
  std::size_t m_size = 0;
  std::size_t m_held = 0;          ///< m_size rounded up to the alignment
  std::size_t m_charged = 0;       ///< m_held without what was discarded
  std::size_t m_pageBytes = 4096;  ///< of a mapping: what can be given back at once
  bool m_isMapping = false;        ///< pages come from mmap, not from operator new
  MemoryTag m_tag = MemoryTag::kScratch;
  std::shared_ptr<Ledger> m_ledger;
};

}  // namespace colibri

#pragma once
// Cutting one buffer into aligned pieces.

#include <cstddef>

namespace colibri {

/// Hands out consecutive pieces of a buffer, each aligned to 64 bytes; without a buffer it only counts, so that one
/// walk serves both for the size and for the pointers.
class Carver {
public:
  /// `base` is aligned to 64 bytes, or null.
  explicit Carver(std::byte* base) : m_base(base) {}

  /// Room for `count` values; null while counting.
  template <typename T>
  T* take(std::size_t count) {
    T* piece = m_base == nullptr ? nullptr : reinterpret_cast<T*>(m_base + m_used);
    m_used += (count * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
  template <typename T>
  void take(T*& target, std::size_t count) {
    target = take<T>(count);
  }
  /// Bytes handed out.
  [[nodiscard]] std::size_t used() const { return m_used; }

private:
  std::byte* m_base;
  std::size_t m_used = 0;
};

}  // namespace colibri

#pragma once
// SHA-256 and the short hash that names a result's bits.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace colibri {

/// Incremental SHA-256 (libcrypto).
class Sha256 {
public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::byte> bytes);
  /// Lower-case hex of the digest; the object is finished afterwards.
  [[nodiscard]] std::string finishHex();

private:
  struct State;
  std::unique_ptr<State> m_state;
};

[[nodiscard]] std::string sha256Hex(std::span<const std::byte> bytes);
/// First 64 bits of the SHA-256 as 16 hex digits: what `coli logits --out -` prints.
[[nodiscard]] std::string shortHash(std::span<const std::byte> bytes);

}  // namespace colibri

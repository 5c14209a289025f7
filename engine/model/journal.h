#pragma once
// Undo log of a sequence's state: what later tokens wrote over earlier ones, so that they can be taken back.

#include "base/buffer.h"
#include <colibri/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace colibri {

/// Window rings and compressor rows are addressed modulo something: writing a token's row destroys one that an earlier
/// position needs again when the token is rejected. Blocks save a row before they write it; rollBack() replays the
/// log backwards. All room is made at creation. One thread.
class Journal {
public:
  Journal() = default;
  /// Room for `floats` saved values in at most `records` pieces, charged as kKv.
  static Result<Journal> create(std::size_t floats, std::size_t records, std::shared_ptr<Ledger> ledger);
  /// Bytes of such a journal.
  [[nodiscard]] static std::uint64_t bytes(std::size_t floats, std::size_t records);

  /// From here on writes are saved; what was recorded before is forgotten.
  void begin();
  /// Writes are not saved any more; what was recorded stays until begin().
  void end() { m_recording = false; }
  [[nodiscard]] bool recording() const { return m_recording; }
  /// Keeps target [count] as it is before the token at `position` changes it. Only while recording; a write without
  /// room ends the recording and makes complete() false.
  void save(int position, float* target, std::size_t count);
  /// Takes back every write of the tokens from `position` on, newest first.
  void rollBack(int position);
  /// False when something did not fit since begin(): rollBack() would not restore everything.
  [[nodiscard]] bool complete() const { return m_complete; }

private:
  struct Record {
    float* target = nullptr;
    std::size_t first = 0;  ///< in m_values
    std::size_t count = 0;
    int position = 0;
  };

  Buffer m_values;
  std::size_t m_capacity = 0;
  std::size_t m_used = 0;
  std::vector<Record> m_records;  ///< reserved at creation
  std::size_t m_mostRecords = 0;
  bool m_recording = false;
  bool m_complete = true;
};

}  // namespace colibri

#include "model/journal.h"

#include <algorithm>
#include <utility>

namespace colibri {

std::uint64_t Journal::bytes(std::size_t floats, std::size_t records) {
  return floats * sizeof(float) + records * sizeof(Record);
}

Result<Journal> Journal::create(std::size_t floats, std::size_t records, std::shared_ptr<Ledger> ledger) {
  Journal journal;
  COLIBRI_ASSIGN_OR_RETURN(journal.m_values,
                           Buffer::allocate(floats * sizeof(float), MemoryTag::kKv, std::move(ledger)));
  journal.m_capacity = floats;
  journal.m_mostRecords = records;
  journal.m_records.reserve(records);
  return journal;
}

void Journal::begin() {
  m_records.clear();
  m_used = 0;
  m_recording = true;
  m_complete = true;
}

void Journal::save(int position, float* target, std::size_t count) {
  if (!m_recording) return;
  if (m_records.size() == m_mostRecords || m_capacity - m_used < count) {
    m_recording = false;
    m_complete = false;
    return;
  }
  std::copy_n(target, count, m_values.as<float>() + m_used);
  m_records.push_back({target, m_used, count, position});
  m_used += count;
}

void Journal::rollBack(int position) {
  for (auto record = m_records.rbegin(); record != m_records.rend(); ++record) {
    if (record->position < position) continue;
    std::copy_n(m_values.as<float>() + record->first, record->count, record->target);
  }
  m_records.erase(std::remove_if(m_records.begin(), m_records.end(),
                                 [&](const Record& record) { return record.position >= position; }),
                  m_records.end());
}

}  // namespace colibri

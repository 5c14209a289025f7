#include "telemetry/span_recorder.h"

#include "base/json.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <new>
#include <ostream>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

// Process numbers of the trace: they only group its tracks.
constexpr int kThreads = 1;
constexpr int kDrives = 2;
constexpr std::size_t kMostCapacity = std::size_t{1} << 24;

OrderedJson metadata(const char* what, int process, std::uint32_t track, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}};
}

double microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-3;
}

/// Puts events into a JSON array, one a line.
class EventWriter {
public:
  explicit EventWriter(std::ostream& out) : m_out(out) {}
  void add(const OrderedJson& event) {
    m_out << (m_first ? "\n" : ",\n") << event.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    m_first = false;
  }

private:
  std::ostream& m_out;
  bool m_first = true;
};

}  // namespace

Result<std::unique_ptr<SpanRecorder>> SpanRecorder::create(std::shared_ptr<Ledger> ledger, std::size_t capacity) {
  const std::size_t slots = std::bit_ceil(std::min(std::max<std::size_t>(capacity, 1), kMostCapacity));
  std::unique_ptr<SpanRecorder> recorder(new SpanRecorder());
  COLIBRI_ASSIGN_OR_RETURN(recorder->m_memory,
                           Buffer::allocateUntouched(slots * sizeof(Slot), MemoryTag::kReserve, std::move(ledger)));
  recorder->m_slots = recorder->m_memory.as<Slot>();
  for (std::size_t i = 0; i < slots; ++i) new (recorder->m_slots + i) Slot();
  recorder->m_mask = slots - 1;
  recorder->m_origin = Span::Clock::now();
  recorder->m_threadNames[kEngineTrack] = "engine";
  return recorder;
}

void SpanRecorder::nameThread(std::uint32_t track, std::string name) {
  const std::lock_guard lock(m_namesMutex);
  m_threadNames[track] = std::move(name);
}

void SpanRecorder::nameDrive(std::uint32_t drive, std::string name) {
  const std::lock_guard lock(m_namesMutex);
  m_driveNames[drive] = std::move(name);
}

bool SpanRecorder::take(std::uint64_t ticket, Entry& entry) const {
  constexpr auto kAcquire = std::memory_order_acquire;
  const Slot& slot = m_slots[ticket & m_mask];
  const std::uint64_t whole = 2 * ticket + 2;
  if (slot.version.load(kAcquire) != whole) return false;
  const auto point = [](std::int64_t count) { return Span::Clock::time_point(Span::Clock::duration(count)); };
  entry.span.name = slot.name.load(kAcquire);
  entry.span.begin = point(slot.begin.load(kAcquire));
  entry.span.end = point(slot.end.load(kAcquire));
  entry.span.bytes = slot.bytes.load(kAcquire);
  entry.span.track = slot.track.load(kAcquire);
  entry.kind = slot.kind.load(kAcquire);
  entry.span.layer = slot.layer.load(kAcquire);
  entry.span.tokens = slot.tokens.load(kAcquire);
  return slot.version.load(std::memory_order_relaxed) == whole;
}

void SpanRecorder::writeEvents(std::ostream& out) const {
  EventWriter events(out);
  {
    const std::lock_guard lock(m_namesMutex);
    events.add(metadata("process_name", kThreads, 0, "Colibri"));
    events.add(metadata("process_name", kDrives, 0, "Drives"));
    for (const auto& [track, name] : m_threadNames) events.add(metadata("thread_name", kThreads, track, name));
    for (const auto& [drive, name] : m_driveNames) events.add(metadata("thread_name", kDrives, drive, name));
  }
  const std::uint64_t end = m_next.load(std::memory_order_acquire);
  for (std::uint64_t ticket = end > m_mask + 1 ? end - m_mask - 1 : 0; ticket < end; ++ticket) {
    Entry entry;
    if (!take(ticket, entry)) continue;
    const Span& span = entry.span;
    const double begin = microseconds(span.begin - m_origin);
    OrderedJson args = OrderedJson::object();
    if (span.layer >= 0) args["layer"] = span.layer;
    if (span.tokens > 0) args["tokens"] = span.tokens;
    if (span.bytes > 0) args["bytes"] = span.bytes;
    if (entry.kind == Kind::kWork) {
      events.add({{"name", span.name},
                  {"cat", "engine"},
                  {"ph", "X"},
                  {"ts", begin},
                  {"dur", microseconds(span.end - span.begin)},
                  {"pid", kThreads},
                  {"tid", span.track},
                  {"args", std::move(args)}});
      continue;
    }
    OrderedJson half{{"name", span.name}, {"cat", "drive"}, {"ph", "b"},         {"id", ticket},
                     {"ts", begin},       {"pid", kDrives}, {"tid", span.track}, {"args", std::move(args)}};
    events.add(half);
    half["ph"] = "e";
    half["ts"] = microseconds(span.end - m_origin);
    half.erase("args");
    events.add(half);
  }
}

Status SpanRecorder::write(const std::filesystem::path& file) const {
  const auto failed = [&](const std::string& why) {
    return Status(Code::kIo, "trace_not_written",
                  "The timeline could not be written to " + file.string() + ": " + why +
                      ". Name a file in a folder that you may write to.");
  };
  std::filesystem::path partial = file;
  partial += ".part";
  std::error_code error;
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  if (!out) return failed("it cannot be opened");
  const std::uint64_t total = recorded();
  const std::uint64_t forgotten = total > capacity() ? total - capacity() : 0;
  out << R"({"displayTimeUnit":"ms","otherData":{"spans_recorded":)" << total << R"(,"spans_forgotten":)" << forgotten
      << R"(},"traceEvents":[)";
  writeEvents(out);
  out << "\n]}\n";
  out.close();
  if (!out) {
    std::filesystem::remove(partial, error);
    return failed("the drive is full or failed");
  }
  std::filesystem::rename(partial, file, error);
  if (!error) return Status::ok();
  const std::string why = error.message();
  std::filesystem::remove(partial, error);
  return failed(why);
}

}  // namespace colibri

#if defined(_WIN32)

#include "io/overlapped_backend.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

// A call that Windows had no memory for is begun again after this long, or when another one has ended.
constexpr std::chrono::milliseconds kRefusedWait{1};

}  // namespace

Result<std::unique_ptr<ReadBackend>> OverlappedBackend::create(std::unique_ptr<FileTable>& files,
                                                               const ReadOptions& options) {
  HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1);
  if (port == nullptr) {
    return Status(Code::kUnavailable, "no_completion_port",
                  "Windows grants no completion port (" +
                      std::system_category().message(static_cast<int>(GetLastError())) + ").");
  }
  return std::unique_ptr<ReadBackend>(new OverlappedBackend(std::move(files), port, options));
}

OverlappedBackend::OverlappedBackend(std::unique_ptr<FileTable> files, HANDLE port, const ReadOptions& options)
    : AsyncBackend(std::move(files), options), m_port(port), m_calls(places()), m_entries(places()) {
  for (std::uint32_t file = 0; file < this->files().size(); ++file) {
    m_attached.emplace_back(this->files().copies(file), nullptr);
  }
}

OverlappedBackend::~OverlappedBackend() {
  // Windows writes to the targets and the calls until it has answered.
  for (std::size_t flying = usedPlaces() - m_answers.size(); flying > 0;) {
    const std::size_t ended = fetch(INFINITE).size();
    if (ended == 0) break;
    flying -= std::min(flying, ended);
  }
  (void)CloseHandle(m_port);
}

bool OverlappedBackend::attach(CopyIndex copy, HANDLE handle) {
  HANDLE& attached = m_attached[copy.file][copy.copy];
  if (attached == handle) return true;
  if (CreateIoCompletionPort(handle, m_port, 0, 0) == nullptr) return false;
  attached = handle;
  return true;
}

void OverlappedBackend::start(std::uint32_t place) {
  ReadPiece& next = piece(place);
  const FileTable::Handle file = files().handle(next.copy);
  next.direct = file.direct;
  Call& call = m_calls[place];
  static_cast<OVERLAPPED&>(call) = OVERLAPPED{};
  call.handle = reinterpret_cast<HANDLE>(file.file->native());
  const std::uint64_t offset = next.offset + next.done;
  call.Offset = static_cast<DWORD>(offset);
  call.OffsetHigh = static_cast<DWORD>(offset >> 32);
  const auto bytes = static_cast<DWORD>(next.bytes - next.done);
  // A call that ends at once is told through the port too.
  if (attach(next.copy, call.handle) && ::ReadFile(call.handle, next.target + next.done, bytes, nullptr, &call) != 0) {
    return;
  }
  const DWORD error = GetLastError();
  if (error != ERROR_IO_PENDING) m_answers.push_back({place, readResultOf(error)});
}

std::span<const OVERLAPPED_ENTRY> OverlappedBackend::fetch(DWORD milliseconds) {
  ULONG count = 0;
  const auto most = static_cast<ULONG>(m_entries.size());
  if (GetQueuedCompletionStatusEx(m_port, m_entries.data(), most, &count, milliseconds, FALSE) == 0) return {};
  return std::span(m_entries).first(count);
}

void OverlappedBackend::settleAnswers() {
  std::swap(m_answers, m_settling);
  for (const Answer& answer : m_settling) settle(answer.place, answer.result);
  m_settling.clear();
}

void OverlappedBackend::collect(std::chrono::nanoseconds wait) {
  const bool onlyRefused =
      std::all_of(m_answers.begin(), m_answers.end(), [](const Answer& answer) { return answer.result == -EAGAIN; });
  if (!onlyRefused) {
    wait = std::chrono::nanoseconds(0);
  } else if (!m_answers.empty()) {
    wait = std::min<std::chrono::nanoseconds>(wait, kRefusedWait);
  }
  // The port counts in milliseconds: rounded up, or a short rest would be spent spinning.
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait);
  const std::span<const OVERLAPPED_ENTRY> ended = fetch(static_cast<DWORD>(milliseconds.count()));
  const bool repeat = !onlyRefused || wait.count() > 0 || !ended.empty();
  for (const OVERLAPPED_ENTRY& entry : ended) {
    const auto* call = static_cast<const Call*>(entry.lpOverlapped);
    const auto place = static_cast<std::uint32_t>(call - m_calls.data());
    DWORD bytes = 0;
    const bool good = GetOverlappedResult(call->handle, entry.lpOverlapped, &bytes, FALSE) != 0;
    settle(place, good ? std::int64_t{bytes} : readResultOf(GetLastError()));
  }
  if (repeat) settleAnswers();
}

}  // namespace colibri

#endif

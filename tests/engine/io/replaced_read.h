#pragma once
// The system's call for reading, replaced in the whole test program: pread, on Windows ReadFile. Included by one file.

#include "io/system_file.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <functional>

#if defined(_WIN32)
#include "io/windows_api.h"

#include <algorithm>
#include <mutex>
#include <vector>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace colibri::testing {

struct ReplacedRead {
  /// Result of the n-th call (from 0): bytes to really ask for at most, or -errno. Calls on one file tell the same
  /// `file`.
  std::function<long(int call, NativeFile file, long count)> decide;
  std::atomic<int> calls{0};
  std::atomic<int> running{0};
  std::atomic<int> mostRunning{0};
#if defined(_WIN32)
  std::mutex eventsMutex;
  std::vector<HANDLE> events;        ///< of the calls that run
  std::atomic<int> sharedEvents{0};  ///< calls without an event, or with that of another call that ran
#endif
};
inline ReplacedRead g_replacedRead;

/// Counts the call while it lives.
class ReplacedCall {
public:
  ReplacedCall() {
    const int running = ++g_replacedRead.running;
    int most = g_replacedRead.mostRunning;
    while (running > most && !g_replacedRead.mostRunning.compare_exchange_weak(most, running)) {
    }
  }
  ReplacedCall(const ReplacedCall&) = delete;
  ReplacedCall& operator=(const ReplacedCall&) = delete;
  ~ReplacedCall() { --g_replacedRead.running; }
  [[nodiscard]] static long decide(NativeFile file, std::size_t count) {
    const auto wanted = static_cast<long>(count);
    return g_replacedRead.decide ? g_replacedRead.decide(g_replacedRead.calls++, file, wanted) : wanted;
  }
};

#if defined(_WIN32)
/// Notes the event of a call while it lives.
class CallEventNote {
public:
  explicit CallEventNote(HANDLE event) : m_event(event) {
    const std::lock_guard lock(g_replacedRead.eventsMutex);
    std::vector<HANDLE>& events = g_replacedRead.events;
    if (event == nullptr || std::find(events.begin(), events.end(), event) != events.end()) {
      ++g_replacedRead.sharedEvents;
    }
    events.push_back(event);
  }
  CallEventNote(const CallEventNote&) = delete;
  CallEventNote& operator=(const CallEventNote&) = delete;
  ~CallEventNote() {
    // A contended mutex overwrites the last error, which the caller of ReadFile still wants to know.
    const DWORD error = GetLastError();
    {
      const std::lock_guard lock(g_replacedRead.eventsMutex);
      std::vector<HANDLE>& events = g_replacedRead.events;
      events.erase(std::find(events.begin(), events.end(), m_event));
    }
    SetLastError(error);
  }

private:
  HANDLE m_event;
};

inline BOOL WINAPI readFile(HANDLE file, LPVOID target, DWORD count, LPDWORD got, LPOVERLAPPED call) {
  static const auto real = reinterpret_cast<decltype(&readFile)>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "ReadFile")));
  if (call == nullptr) return real(file, target, count, got, call);
  const ReplacedCall counted;
  const CallEventNote noted(call->hEvent);
  const long allowed = ReplacedCall::decide(reinterpret_cast<NativeFile>(file), count);
  if (allowed >= 0) return real(file, target, static_cast<DWORD>(allowed), got, call);
  switch (-allowed) {
    case EINTR:
      SetLastError(ERROR_OPERATION_ABORTED);
      break;
    case EAGAIN:
      SetLastError(ERROR_NO_SYSTEM_RESOURCES);
      break;
    case EINVAL:
      SetLastError(ERROR_INVALID_PARAMETER);
      break;
    case EOPNOTSUPP:
      SetLastError(ERROR_NOT_SUPPORTED);
      break;
    default:
      SetLastError(ERROR_CRC);
      break;
  }
  return FALSE;
}
#endif

}  // namespace colibri::testing

#if defined(_WIN32)
// What calls of an imported function go through.
extern "C" {
decltype(&colibri::testing::readFile) __imp_ReadFile = &colibri::testing::readFile;
}
#else
extern "C" ssize_t pread(int descriptor, void* target, size_t count, off_t offset) {
  const colibri::testing::ReplacedCall counted;
  const long allowed = colibri::testing::ReplacedCall::decide(descriptor, count);
  if (allowed >= 0) return syscall(SYS_pread64, descriptor, target, static_cast<size_t>(allowed), offset);
  errno = static_cast<int>(-allowed);
  return -1;
}
#endif

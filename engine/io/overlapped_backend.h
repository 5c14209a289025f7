#pragma once
// Reads through Windows' overlapped calls and one completion port: no threads of its own. Windows only.

#if defined(_WIN32)

#include "io/async_backend.h"
#include "io/windows_api.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace colibri {

class OverlappedBackend final : public AsyncBackend {
public:
  /// kUnavailable with the reason when Windows grants no completion port; `files` is then left as it was.
  static Result<std::unique_ptr<ReadBackend>> create(std::unique_ptr<FileTable>& files, const ReadOptions& options);
  ~OverlappedBackend() override;

  [[nodiscard]] std::string_view name() const override { return "overlapped"; }

private:
  /// The system writes to it until it has answered, so it is never moved.
  struct Call : OVERLAPPED {
    HANDLE handle = nullptr;
  };
  struct Answer {
    std::uint32_t place = 0;
    std::int64_t result = 0;
  };
  OverlappedBackend(std::unique_ptr<FileTable> files, HANDLE port, const ReadOptions& options);
  void start(std::uint32_t place) override;
  void collect(std::chrono::nanoseconds wait) override;
  /// Whether the ends of the handle's calls go to the port; false: GetLastError() says why they do not.
  bool attach(CopyIndex copy, HANDLE handle);
  /// Ended calls, at most as many as fit, waiting at most `milliseconds` for the first.
  std::span<const OVERLAPPED_ENTRY> fetch(DWORD milliseconds);
  void settleAnswers();

  HANDLE m_port;
  std::vector<Call> m_calls;                    ///< by place
  std::vector<std::vector<HANDLE>> m_attached;  ///< by file and copy: the handle that the port knows
  std::vector<OVERLAPPED_ENTRY> m_entries;      ///< as many as there are places
  std::vector<Answer> m_answers;                ///< of calls that Windows did not begin
  std::vector<Answer> m_settling;               ///< those being dealt with
};

}  // namespace colibri

#endif

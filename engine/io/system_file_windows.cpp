#if defined(_WIN32)

#include "io/read_backend.h"
#include "io/system_file.h"
#include "io/windows_api.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace colibri {
namespace {

HANDLE handleOf(NativeFile file) {
  return reinterpret_cast<HANDLE>(file);
}

int errnoOf(DWORD error) {
  const std::error_condition condition = std::system_category().default_error_condition(static_cast<int>(error));
  return condition.category() == std::generic_category() ? condition.value() : EIO;
}

/// kNoFile when it cannot be opened: GetLastError() then says why.
NativeFile openNative(const std::filesystem::path& path, DWORD flags) {
  // Others may go on writing, renaming and deleting, as on other systems. Every call names its offset: a handle without
  // FILE_FLAG_OVERLAPPED would serve one call at a time, and would keep a position that threads step on.
  constexpr DWORD kShare = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  HANDLE handle =
      CreateFileW(path.c_str(), GENERIC_READ, kShare, nullptr, OPEN_EXISTING, FILE_FLAG_OVERLAPPED | flags, nullptr);
  return reinterpret_cast<NativeFile>(handle);
}

/// Pipes, consoles and the like; Windows does not open folders at all.
bool isRegular(NativeFile file) {
  return GetFileType(handleOf(file)) == FILE_TYPE_DISK;
}

/// Why the open file is better read through the system's cache; empty when direct reads are fine.
std::string reasonAgainstDirect(NativeFile file) {
  FILE_BASIC_INFO basic{};
  if (GetFileInformationByHandleEx(handleOf(file), FileBasicInfo, &basic, sizeof basic) != 0 &&
      (basic.FileAttributes & (FILE_ATTRIBUTE_COMPRESSED | FILE_ATTRIBUTE_ENCRYPTED)) != 0) {
    return "Windows keeps the file compressed or encrypted, so its bytes pass through memory anyway.";
  }
  FILE_STORAGE_INFO storage{};
  if (GetFileInformationByHandleEx(handleOf(file), FileStorageInfo, &storage, sizeof storage) != 0 &&
      storage.LogicalBytesPerSector != 0 && kReadAlignment % storage.LogicalBytesPerSector != 0) {
    return "The drive wants direct reads aligned to " + std::to_string(storage.LogicalBytesPerSector) + " bytes.";
  }
  return {};
}

/// An event for one call, so that calls on the same handle cannot take each other's end for their own.
class CallEvent {
public:
  CallEvent() : m_event(CreateEventW(nullptr, TRUE, FALSE, nullptr)) {}
  CallEvent(const CallEvent&) = delete;
  CallEvent& operator=(const CallEvent&) = delete;
  ~CallEvent() {
    if (m_event != nullptr) (void)CloseHandle(m_event);
  }
  [[nodiscard]] HANDLE get() const { return m_event; }

private:
  HANDLE m_event;
};

}  // namespace

std::int64_t readResultOf(DWORD error) {
  switch (error) {
    case ERROR_HANDLE_EOF:
      return 0;
    case ERROR_OPERATION_ABORTED:
      return -EINTR;
    case ERROR_NO_SYSTEM_RESOURCES:
    case ERROR_NOT_ENOUGH_QUOTA:
    case ERROR_WORKING_SET_QUOTA:
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_INVALID_USER_BUFFER:
      return -EAGAIN;
    case ERROR_INVALID_FUNCTION:
    case ERROR_NOT_SUPPORTED:
      return -EINVAL;
    default:
      return -errnoOf(error);
  }
}

SystemFile::~SystemFile() {
  if (isOpen()) (void)CloseHandle(handleOf(m_file));
}

Result<SystemFile> SystemFile::openBuffered(const std::filesystem::path& path) {
  SystemFile file(openNative(path, 0));
  if (!file.isOpen()) return openFailed(path, errnoOf(GetLastError()));
  if (!isRegular(file.m_file)) return notRegular(path);
  return file;
}

Result<SystemFile> SystemFile::openDirect(const std::filesystem::path& path, std::string& refusal) {
  SystemFile file(openNative(path, FILE_FLAG_NO_BUFFERING));
  if (!file.isOpen()) {
    const DWORD error = GetLastError();
    if (error != ERROR_INVALID_PARAMETER && error != ERROR_NOT_SUPPORTED && error != ERROR_INVALID_FUNCTION) {
      return openFailed(path, errnoOf(error));
    }
    refusal = "The file system refuses direct reads (FILE_FLAG_NO_BUFFERING).";
    return SystemFile();
  }
  if (!isRegular(file.m_file)) return notRegular(path);
  refusal = reasonAgainstDirect(file.m_file);
  if (!refusal.empty()) return SystemFile();
  return file;
}

std::uint64_t SystemFile::bytes() const {
  LARGE_INTEGER size{};
  return GetFileSizeEx(handleOf(m_file), &size) != 0 ? static_cast<std::uint64_t>(size.QuadPart) : 0;
}

std::int64_t SystemFile::readAt(std::byte* target, std::uint64_t bytes, std::uint64_t offset) const {
  const CallEvent event;
  if (event.get() == nullptr) return readResultOf(GetLastError());
  OVERLAPPED call{};
  call.Offset = static_cast<DWORD>(offset);
  call.OffsetHigh = static_cast<DWORD>(offset >> 32);
  call.hEvent = event.get();
  if (::ReadFile(handleOf(m_file), target, static_cast<DWORD>(bytes), nullptr, &call) == 0) {
    const DWORD error = GetLastError();
    if (error != ERROR_IO_PENDING) return readResultOf(error);
  }
  DWORD got = 0;
  if (GetOverlappedResult(handleOf(m_file), &call, &got, TRUE) == 0) return readResultOf(GetLastError());
  return got;
}

}  // namespace colibri

#endif

#pragma once
// The Windows headers without the macros that break other code, and Windows' errors as errno.

#if defined(_WIN32)

#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <cstdint>

namespace colibri {

/// What a read that ended with `error` (GetLastError) came to: 0 at the end of the file, else -errno as advancePiece()
/// wants it: EAGAIN when the system is short of memory for it, EINTR when it was called off, EINVAL when it was
/// refused.
[[nodiscard]] std::int64_t readResultOf(DWORD error);

}  // namespace colibri

#endif

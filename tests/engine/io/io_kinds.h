#pragma once
// The ways of reading that this system has, for tests that try them all.

#include "io/read_backend.h"

#include <string>

namespace colibri::testing {

/// The way that needs no threads, and its name.
#if defined(_WIN32)
inline constexpr IoKind kThreadlessKind = IoKind::kAuto;
inline constexpr const char* kThreadlessName = "overlapped";
#else
inline constexpr IoKind kThreadlessKind = IoKind::kUring;
inline constexpr const char* kThreadlessName = "uring";
#endif

/// For names of tests.
inline std::string kindName(IoKind kind) {
  return kind == IoKind::kThreads ? "Threads" : kind == IoKind::kUring ? "Uring" : "Auto";
}

}  // namespace colibri::testing

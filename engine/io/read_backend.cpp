#include "io/read_backend.h"

#include "io/file_table.h"
#include "io/thread_backend.h"
#include "io/uring_backend.h"

#include <algorithm>
#include <string>
#include <utility>

namespace colibri {

Result<std::unique_ptr<ReadBackend>> openReadBackend(std::span<const std::filesystem::path> paths,
                                                     const ReadOptions& options) {
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<FileTable> files, FileTable::open(paths, options.direct));
  const int depth = std::clamp(options.queueDepth, 1, 256);
  std::string reason;
#if defined(COLIBRI_HAVE_URING)
  if (options.kind != IoKind::kThreads) {
    auto backend = UringBackend::create(files, depth);
    if (backend || options.kind == IoKind::kUring) return backend;
    reason = backend.status().message() + " Reading with threads instead.";
  }
#else
  reason = "This build of Colibri has no io_uring. Reading with threads instead.";
  if (options.kind == IoKind::kUring) {
    return Status(Code::kUnavailable, "no_io_uring", "This build of Colibri has no io_uring. Use --io threads.");
  }
#endif
  if (options.kind == IoKind::kThreads) reason.clear();
  return ThreadBackend::create(std::move(files), depth, std::move(reason));
}

}  // namespace colibri

#include "io/read_backend.h"

#include "io/file_table.h"
#include "io/overlapped_backend.h"
#include "io/thread_backend.h"
#include "io/uring_backend.h"

#include <string>
#include <utility>
#include <vector>

namespace colibri {

Result<std::unique_ptr<ReadBackend>> openReadBackend(std::span<const ReadFile> files, const ReadOptions& options) {
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<FileTable> table, FileTable::open(files, options.direct));
  std::string reason;
#if defined(COLIBRI_HAVE_URING)
  if (options.kind != IoKind::kThreads) {
    auto backend = UringBackend::create(table, options);
    if (backend || options.kind == IoKind::kUring) return backend;
    reason = backend.status().message() + " Reading with threads instead.";
  }
#else
  if (options.kind == IoKind::kUring) {
    return Status(Code::kUnavailable, "no_io_uring",
                  "This build of Colibri has no io_uring. Use --io auto or --io threads.");
  }
#if defined(_WIN32)
  if (options.kind == IoKind::kAuto) {
    auto backend = OverlappedBackend::create(table, options);
    if (backend) return backend;
    reason = backend.status().message() + " Reading with threads instead.";
  }
#else
  reason = "This build of Colibri has no io_uring. Reading with threads instead.";
#endif
#endif
  if (options.kind == IoKind::kThreads) reason.clear();
  return ThreadBackend::create(std::move(table), options, std::move(reason));
}

Result<std::unique_ptr<ReadBackend>> openReadBackend(std::span<const std::filesystem::path> paths,
                                                     const ReadOptions& options) {
  std::vector<ReadFile> files;
  for (const std::filesystem::path& path : paths) files.push_back({FileCopy{path, 0}});
  return openReadBackend(files, options);
}

}  // namespace colibri

#include "io/file_table.h"

#include <string>
#include <utility>

namespace colibri {

Status FileTable::openOne(File& file, bool direct) {
  file.reason = "Direct reads are switched off.";
  if (direct) {
    COLIBRI_ASSIGN_OR_RETURN(file.direct, SystemFile::openDirect(file.path, file.reason));
    if (file.direct.isOpen()) return Status::ok();
  }
  COLIBRI_ASSIGN_OR_RETURN(file.buffered, SystemFile::openBuffered(file.path));
  return Status::ok();
}

Result<std::unique_ptr<FileTable>> FileTable::open(std::span<const ReadFile> files, bool direct) {
  std::unique_ptr<FileTable> table(new FileTable());
  table->m_files.resize(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<File>& copies = table->m_files[i];
    for (const FileCopy& copy : files[i]) {
      File& file = copies.emplace_back();
      file.path = copy.path;
      file.drive = copy.drive;
      const Status status = openOne(file, direct);
      if (status.isOk()) continue;
      const bool isPrimary = copies.size() == 1;
      copies.pop_back();
      if (isPrimary) return status;
      table->m_notices.push_back("The copy in " + copy.path.parent_path().string() +
                                 " is not used: " + status.message());
    }
    if (copies.empty()) return Status(Code::kInternal, "read_no_such_file", "A file to read has no place.");
  }
  return table;
}

FileTable::Handle FileTable::handle(CopyIndex index) const {
  const std::lock_guard lock(m_mutex);
  const File& file = at(index);
  return file.buffered.isOpen() ? Handle{&file.buffered, false} : Handle{&file.direct, true};
}

FileAccess FileTable::access(CopyIndex index) const {
  const std::lock_guard lock(m_mutex);
  if (index.file >= m_files.size()) return {};
  return FileAccess{!at(index).buffered.isOpen(), at(index).reason};
}

std::string FileTable::name(CopyIndex index) const {
  const std::lock_guard lock(m_mutex);
  return at(index).path.filename().string();
}

std::uint64_t FileTable::bytes(CopyIndex index) const {
  return handle(index).file->bytes();
}

Status FileTable::goBuffered(CopyIndex index, std::string reason) {
  const std::lock_guard lock(m_mutex);
  File& file = m_files[index.file][index.copy];
  if (file.buffered.isOpen()) return Status::ok();
  COLIBRI_ASSIGN_OR_RETURN(file.buffered, SystemFile::openBuffered(file.path));
  file.reason = std::move(reason);
  return Status::ok();
}

void FileTable::setFault(std::uint32_t drive, std::string fault) {
  const std::lock_guard lock(m_mutex);
  if (m_faults.size() <= drive) m_faults.resize(drive + 1);
  m_faults[drive] = std::move(fault);
}

void FileTable::describe(std::uint32_t drive, DriveCounters& counters) const {
  const std::lock_guard lock(m_mutex);
  bool any = false;
  counters.direct = true;
  for (const std::vector<File>& copies : m_files) {
    for (const File& file : copies) {
      if (file.drive != drive) continue;
      any = true;
      if (!file.buffered.isOpen()) continue;
      counters.direct = false;
      counters.reason = file.reason;
    }
  }
  counters.direct = counters.direct && any;
  if (drive < m_faults.size()) counters.fault = m_faults[drive];
}

void FileTable::addNotice(std::string notice) {
  const std::lock_guard lock(m_mutex);
  m_notices.push_back(std::move(notice));
}

std::vector<std::string> FileTable::takeNotices() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_notices, {});
}

Status FileTable::check(const ReadRequest& request) const {
  if (request.file >= m_files.size()) {
    return Status(
        Code::kInternal, "read_no_such_file",
        "A read asked for file " + std::to_string(request.file) + " of " + std::to_string(m_files.size()) + ".");
  }
  if (request.expected > request.bytes || request.offset + request.bytes < request.offset) {
    return Status(Code::kInternal, "read_bad_range",
                  "A read asked for an impossible range of " + name({request.file, 0}) + ".");
  }
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(request.target);
  if (((request.offset | request.bytes | address) & (kReadAlignment - 1)) == 0) return Status::ok();
  for (std::uint32_t copy = 0; copy < copies(request.file); ++copy) {
    if (!handle({request.file, copy}).direct) continue;
    return Status(Code::kInternal, "read_misaligned",
                  "A direct read of " + name({request.file, copy}) + " at " + std::to_string(request.offset) +
                      " is not aligned to " + std::to_string(kReadAlignment) + " bytes.");
  }
  return Status::ok();
}

}  // namespace colibri

#include "plan/probe.h"
#include "plan/small_file.h"

#include <sys/statfs.h>

#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace colibri {
namespace {

namespace fs = std::filesystem;

struct KnownFileSystem {
  std::uint64_t magic;
  const char* name;
};
constexpr std::array<KnownFileSystem, 18> kFileSystems{{{0xef53, "ext4"},
                                                        {0x58465342, "xfs"},
                                                        {0x9123683e, "btrfs"},
                                                        {0x01021994, "tmpfs"},
                                                        {0x858458f6, "ramfs"},
                                                        {0x794c7630, "overlayfs"},
                                                        {0x6969, "nfs"},
                                                        {0xff534d42, "cifs"},
                                                        {0xfe534d42, "smb2"},
                                                        {0x01021997, "9p"},
                                                        {0x65735546, "fuse"},
                                                        {0x2fc12fc1, "zfs"},
                                                        {0xf2f52010, "f2fs"},
                                                        {0x4d44, "vfat"},
                                                        {0x2011bab0, "exfat"},
                                                        {0x5346544e, "ntfs"},
                                                        {0x7366746e, "ntfs3"},
                                                        {0x73717368, "squashfs"}}};

std::string fileSystemName(std::uint64_t magic) {
  for (const KnownFileSystem& known : kFileSystems) {
    if (known.magic == magic) return known.name;
  }
  std::ostringstream text;
  text << "0x" << std::hex << magic;
  return text.str();
}

struct Mount {
  std::string source;
  std::string type;
};

/// The mount with the longest path that holds `folder`.
Mount mountOf(const fs::path& folder, const fs::path& root) {
  std::istringstream lines(readSmall(root / "proc/self/mounts"));
  Mount best;
  std::size_t bestLength = 0;
  const std::string text = folder.string();
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Mount mount;
    std::string point;
    fields >> mount.source >> point >> mount.type;
    const std::string prefix = point == "/" ? "/" : point + "/";
    if ((text == point || text.compare(0, prefix.size(), prefix) == 0) && point.size() >= bestLength) {
      best = std::move(mount);
      bestLength = point.size();
    }
  }
  return best;
}

bool isNetwork(std::string_view type) {
  constexpr std::array<std::string_view, 10> kTypes{"nfs",        "nfs4",        "cifs",      "smb2",           "smb3",
                                                    "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "ceph"};
  for (const std::string_view known : kTypes) {
    if (type == known) return true;
  }
  return false;
}

struct DriveKind {
  std::string kind = "unknown";
  bool isUsb = false;
};

/// Rank for the slowest part of a RAID.
int slowness(std::string_view kind) {
  return kind == "hdd" ? 4 : kind == "ssd" ? 3 : kind == "virtual" ? 2 : kind == "nvme" ? 1 : 0;
}

DriveKind driveKind(const std::string& name, const fs::path& root, int depth = 0) {
  DriveKind drive;
  if (name.empty() || depth > 4) return drive;
  std::error_code error;
  // A virtual drive says nothing true about what is behind it (it often claims to rotate).
  if (name.compare(0, 2, "vd") == 0 || name.compare(0, 3, "xvd") == 0) return {"virtual", false};
  fs::path entry = fs::canonical(root / "sys/class/block" / name, error);
  if (error) return drive;
  if (fs::exists(entry / "partition", error)) entry = entry.parent_path();
  // A mapped or RAID device stands for the drives that it is made of.
  for (const fs::directory_entry& part : fs::directory_iterator(entry / "slaves", error)) {
    const DriveKind inner = driveKind(part.path().filename().string(), root, depth + 1);
    drive.isUsb = drive.isUsb || inner.isUsb;
    if (slowness(inner.kind) > slowness(drive.kind)) drive.kind = inner.kind;
  }
  if (drive.kind != "unknown") return drive;
  drive.isUsb = entry.string().find("/usb") != std::string::npos;
  const auto rotational = readNumber(entry / "queue/rotational");
  if (!rotational) return drive;
  drive.kind = *rotational == 1 ? "hdd" : entry.filename().string().compare(0, 4, "nvme") == 0 ? "nvme" : "ssd";
  return drive;
}

}  // namespace

std::string fileSystemWarning(const FileSystemProbe& probe) {
  const std::string& type = probe.type;
  if (probe.kind == "memory") {
    return "This folder lies in memory: reads are buffered and the files take RAM away from the expert cache.";
  }
  if (type == "9p") {
    return "This folder is shared into this machine from its host (9p); every expert passes the host, which is slow.";
  }
  if (probe.kind == "network") return "This folder lies on a network drive; every expert is read over the network.";
  if (type.compare(0, 4, "fuse") == 0 || type == "ntfs" || type == "vfat" || type == "squashfs") {
    return "This file system (" + type + ") often refuses direct reads; then experts pass the page cache.";
  }
  if (probe.kind == "hdd") return "This is a rotating drive; reading scattered experts from it is slow.";
  if (probe.isUsb) return "This drive is connected by USB, which often limits it to well below its own rate.";
  return {};
}

FileSystemProbe probeFileSystem(const fs::path& folder, const fs::path& root) {
  FileSystemProbe probe;
  std::error_code error;
  probe.path = fs::weakly_canonical(folder, error);
  if (error) probe.path = folder;
  probe.kind = "unknown";
  struct statfs info {};
  if (statfs(probe.path.c_str(), &info) != 0) {
    probe.warning = "The folder cannot be examined.";
    return probe;
  }
  probe.type = fileSystemName(static_cast<std::uint64_t>(info.f_type) & 0xffffffffU);
  probe.freeBytes = static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  const Mount mount = mountOf(probe.path, root);
  if (probe.type == "fuse" && mount.type.compare(0, 5, "fuse.") == 0) probe.type = mount.type;
  if (mount.source.compare(0, 5, "/dev/") == 0) {
    // /dev/mapper/… and /dev/disk/by-…/… are links to the device's own name.
    const fs::path device = fs::canonical(root / mount.source.substr(1), error);
    probe.device = error ? mount.source.substr(5) : device.filename().string();
    const DriveKind drive = driveKind(probe.device, root);
    probe.kind = drive.kind;
    probe.isUsb = drive.isUsb;
  }
  if (probe.type == "tmpfs" || probe.type == "ramfs") {
    probe.kind = "memory";
  } else if (probe.type == "9p" || isNetwork(probe.type)) {
    probe.kind = "network";
  }
  probe.warning = fileSystemWarning(probe);
  return probe;
}

}  // namespace colibri

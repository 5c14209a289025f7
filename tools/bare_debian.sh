#!/usr/bin/env bash
# Runs the README's two commands in a bare Debian 12, which shows packages that the package lists forget.
# Usage (as root, with debootstrap installed): tools/bare_debian.sh FOLDER [--worktree] [--first-only]
#   FOLDER      new or empty folder for the system (about 4 GB); it is yours to delete afterwards
#   --worktree  copy the working tree (tracked and untracked files) instead of the last commit
#   --first-only  stop after the README's first command
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(id -u)" = 0 ] || { echo "Run this as root: it makes a chroot." >&2; exit 2; }
[ $# -ge 1 ] || { sed -n '2,7s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "debootstrap is not installed: apt-get install debootstrap" >&2; exit 2; }
root=$1
shift
worktree=0
firstOnly=0
for option in "$@"; do
  case $option in
    --worktree) worktree=1 ;;
    --first-only) firstOnly=1 ;;
    *) echo "Unknown option $option" >&2; exit 2 ;;
  esac
done

if [ ! -e "$root/etc/debian_version" ]; then
  mkdir -p "$root"
  debootstrap --variant=minbase bookworm "$root" >/dev/null
fi
root=$(cd "$root" && pwd)
rm -rf "$root/src/colibri"
mkdir -p "$root/src/colibri"
if [ "$worktree" = 1 ]; then
  git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --null --files-from=- -cf - | tar -xf - -C "$root/src/colibri"
else
  git archive HEAD | tar -xf - -C "$root/src/colibri"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true

# Mounted only while the commands run: whoever copies or deletes the folder later must not meet a live /proc.
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev/shm" 2>/dev/null || { mkdir -p "$root/dev/shm"; mount -t tmpfs tmpfs "$root/dev/shm"; }
trap 'umount "$root/proc" "$root/dev/shm"' EXIT

inside() {
  local started=$SECONDS
  echo "bare Debian: $*"
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LANG=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} \
    chroot "$root" bash -c "cd /src/colibri && $*" </dev/null
  echo "bare Debian: $* took $((SECONDS - started)) s"
}
inside "$(scripts/readme-command 1)"
[ "$firstOnly" = 1 ] || inside "$(scripts/readme-command 2)"

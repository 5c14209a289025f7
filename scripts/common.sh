# Shared by the scripts of this folder; sourced, never run. Each caller sets `log` to the file that takes the noise.
# shellcheck shell=bash
log=${log:-/dev/null}

say() { printf 'Colibri: %s\n' "$*"; }

fail() {
  printf 'Colibri: %s\n' "$*" >&2
  exit 1
}

# quietly WHAT COMMAND...: one line when it starts to take time, the log's tail when it fails.
quietly() {
  local what=$1 started=$SECONDS
  shift
  say "$what (details: ${log#"$PWD"/})"
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    fail "$what: failed. The lines above are the end of $log."
  fi
  say "$what: done in $((SECONDS - started)) s"
}

# packagesOf LIST...: the names in scripts/packages/LIST.txt
packagesOf() {
  local list
  for list in "$@"; do
    grep -v -e '^#' -e '^[[:space:]]*$' "scripts/packages/$list.txt"
  done | sort -u
}

missingPackages() {
  local name
  for name in $(packagesOf "$@"); do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
  done
}

aptInstall() {
  local root=()
  [ "$(id -u)" = 0 ] || root=(sudo)
  "${root[@]}" apt-get update &&
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# installPackages LIST...: asks apt only for what is not there yet, so a second run needs neither network nor rights.
installPackages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    otherSystem "$@"
    return
  fi
  local missing
  mapfile -t missing < <(missingPackages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      fail "${#missing[@]} packages are missing and there is no sudo. As root, run: apt-get install --no-install-recommends ${missing[*]}"
    # sudo asks for its password here, where the question can be seen, and not behind the log.
    sudo -v || fail "Installing packages needs sudo. Run this again, or as root: apt-get install --no-install-recommends ${missing[*]}"
  fi
  quietly "Installing ${#missing[@]} packages" aptInstall "${missing[@]}"
}

# Any other system: its packages have other names, so name the libraries and go on only when the build tools are there.
otherSystem() {
  local tool absent=()
  for tool in cmake ninja pkg-config c++; do
    command -v "$tool" >/dev/null || absent+=("$tool")
  done
  say "This script installs packages on Debian 12 and its relatives only. Here it builds with what is installed."
  if [ "${#absent[@]}" -gt 0 ]; then
    fail "Not found: ${absent[*]}. docs/building.md names everything to install (CMake 3.25, Ninja, GCC 12, Qt 6.4, …); then run this again."
  fi
}

# build PRESET TARGETS...: configured already, built with as many jobs as there are processors.
build() {
  local preset=$1
  shift
  quietly "Building with $(nproc) jobs" cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"}
}

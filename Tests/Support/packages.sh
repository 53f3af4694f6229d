# Sourced by the scripts that install Debian packages. need_packages NAME... installs those that are missing, or says
# in one line what a person must do, and returns 1.

# What the package is built with: the development files of its C libraries.
build_packages=(
  pkg-config libsrtp2-dev libvpx-dev libopus-dev libssl-dev libyuv-dev libspeexdsp-dev libpng-dev libturbojpeg0-dev zlib1g-dev
  libc-ares-dev libwslay-dev libsdl2-dev libxcb1-dev libxcb-shm0-dev libxcb-xfixes0-dev libpulse-dev
)

# What the tests that need a screen start.
screen_packages=(xvfb)
# A Wayland desktop on that screen, and OpenGL on it.
wayland_packages=(weston libgl1-mesa-dri)

need_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "Missing packages: run 'sudo apt-get install -y --no-install-recommends ${missing[*]}', then this again." >&2
    return 1
  fi
  echo "Installing ${missing[*]} …"
  local log
  log=$(mktemp)
  if apt-get -o DPkg::Lock::Timeout=500 update >"$log" 2>&1 &&
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=500 install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  echo "The packages could not be installed (is there a network?): $(grep -m1 '^E:' "$log" || tail -1 "$log") The whole log: $log" >&2
  return 1
}

need_swift() {
  if command -v swift >/dev/null 2>&1; then return 0; fi
  local place
  for place in /opt/swift/usr/bin /usr/share/swift/usr/bin "$HOME/.local/share/swiftly/bin"; do
    if [ -x "$place/swift" ]; then
      PATH="$place:$PATH"
      export PATH
      return 0
    fi
  done
  echo "No Swift toolchain found: install Swift 6.3 or newer from swift.org and put its bin folder on the PATH." >&2
  return 1
}

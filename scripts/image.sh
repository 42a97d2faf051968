#!/usr/bin/env bash
# Builds deploy/Dockerfile where there is neither Docker nor a registry, and starts what it built.
#   scripts/image.sh [base] [all]
# The base image comes from Debian's packages (mmdebstrap), the packages of requirements.lock from this machine's pip,
# and the image's files are run by bubblewrap: root read-only, user 10001, /data the only folder that can be written.
# Runs as root on Debian 12, with buildah, mmdebstrap, bubblewrap and curl. Prints the sizes; nothing is left behind.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGETS=${*:-base all}
readonly START_SECONDS=120
readonly PORT=${PORT:-18080}
# vfs works everywhere, but copies the whole tree for every step.
readonly DRIVER=$(grep -qw overlay /proc/filesystems && echo overlay || echo vfs)
work=$(mktemp -d --tmpdir retinue-image.XXXXXX)
chmod 0755 "$work"
server=

finish() {
  [ -z "$server" ] || kill "$server" 2> /dev/null || true
  buildah_here rm --all > /dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT

for program in buildah mmdebstrap bwrap curl; do
  command -v "$program" > /dev/null || { echo "$program is missing: apt-get install buildah mmdebstrap bubblewrap curl"; exit 1; }
done

buildah_here() {
  local command=$1
  shift
  buildah --root "$work/storage" --runroot "$work/run" --storage-driver "$DRIVER" "$command" "$@"
}

megabytes() { du --summarize --apparent-size --block-size=1M "$1" | cut -f1; }

# A base image from Debian's packages, from the sources that this machine uses.
make_base_image() {
  local sources container
  sources=$(find /etc/apt/sources.list.d -name 'debian.sources' -size +0 | head -1)
  mmdebstrap --quiet --mode=root --variant=minbase --include=python3,python3-venv,ca-certificates \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    bookworm "$work/debian.tar" "${sources:-/etc/apt/sources.list}"
  container=$(buildah_here from scratch)
  buildah_here add --quiet "$container" "$work/debian.tar" / > /dev/null
  buildah_here commit --quiet "$container" localhost/retinue-debian > /dev/null
  buildah_here rm "$container" > /dev/null
  rm "$work/debian.tar"
}

# What the build installs, fetched by the pip and the Python that the base image has as well.
fetch_packages() {
  /usr/bin/python3 -m venv "$work/fetch"
  "$work/fetch/bin/pip" wheel --quiet --disable-pip-version-check --no-deps \
    --wheel-dir "$work/packages" --requirement requirements.lock
  printf '[global]\nno-index = true\nfind-links = /packages\ndisable-pip-version-check = true\n' > "$work/pip.conf"
}

build() {
  buildah_here bud --quiet --isolation chroot --network host --format docker --layers \
    --volume "$work/packages:/packages:ro" --volume "$work/pip.conf:/etc/pip.conf:ro" \
    --build-arg BASE=localhost/retinue-debian --build-arg VERSION="$(git describe --always)" \
    --file deploy/Dockerfile --target "$1" --tag "localhost/retinue:$1" . > /dev/null
}

answers() { curl --silent --fail --max-time 2 "http://127.0.0.1:$PORT/health/ready"; }

# Runs the image's files as the image's configuration says, until the server is ready.
start() {
  local target=$1 container root
  container=$(buildah_here from "localhost/retinue:$target")
  root=$(buildah_here mount "$container")
  echo "$target: $(megabytes "$root") MB, $(megabytes "$root/opt/retinue") MB of it are Retinue and its packages"
  install -d -o 10001 -g 10001 -m 0700 "$work/data-$target"
  bwrap --ro-bind "$root" / --bind "$work/data-$target" /data --proc /proc --dev /dev \
    --unshare-pid --unshare-ipc --unshare-uts --die-with-parent --clearenv \
    --setenv PATH /opt/retinue/bin:/usr/bin:/bin --setenv RETINUE_DATA_DIR /data \
    --setenv PYTHONDONTWRITEBYTECODE 1 --setenv PYTHONUNBUFFERED 1 \
    --cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID \
    setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs env --chdir=/data \
    retinue serve --host 127.0.0.1 --port "$PORT" > "$work/$target.log" 2>&1 &
  server=$!
  for _ in $(seq $((START_SECONDS * 5))); do
    if answers > "$work/answer"; then
      check_started "$target"
      kill "$server"
      wait "$server" || true
      server=
      buildah_here rm "$container" > /dev/null
      return
    fi
    kill -0 "$server" 2> /dev/null || break
    sleep 0.2
  done
  cat "$work/$target.log"
  echo "$target: the server was not ready after $START_SECONDS seconds"
  return 1
}

check_started() {
  local target=$1 pid owner
  echo "$target: /health/ready answers $(cat "$work/answer")"
  pid=$(pgrep --newest --parent "$(pgrep --parent "$server" | head -1)" || pgrep --parent "$server" | head -1)
  owner=$(stat --format=%u "/proc/$pid")
  [ "$owner" = 10001 ] || { echo "$target: the server runs as user $owner"; return 1; }
  awk '$5 == "/" && $6 ~ /^ro(,|$)/ { is_read_only = 1 } END { exit !is_read_only }' "/proc/$pid/mountinfo" || { echo "$target: its root can be written to"; return 1; }
  echo "$target: it runs as user $owner, with a read-only root"
}

[ -f src/retinue/console/web/index.html ] || python3 packaging/console_build.py build
make_base_image
echo "Debian with Python: $(buildah_here images --format '{{.Size}}' localhost/retinue-debian)"
fetch_packages
for target in $TARGETS; do
  build "$target"
  start "$target"
done

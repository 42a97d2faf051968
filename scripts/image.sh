#!/usr/bin/env bash
# Builds deploy/Dockerfile where there is neither Docker nor a registry, and starts what it built.
#   scripts/image.sh [base] [all]
# The base image comes from Debian's packages (mmdebstrap), the packages of requirements.lock from where this machine's
# pip gets them, and the image's files are run by bubblewrap: root read-only, user 10001, /data the only folder that can
# be written. Runs as root on Debian 12 or 13, with buildah, mmdebstrap, bubblewrap and curl. Prints the sizes; nothing
# is left behind.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGETS=${*:-base all}
readonly START_SECONDS=120
readonly RELEASE=trixie # of the images; its PostgreSQL is that of compose.yaml
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

# A base image from Debian's packages, from the sources that this machine uses, whatever its own release is.
make_base_image() {
  local sources container
  sources=$(find /etc/apt/sources.list.d -name 'debian.sources' -size +0 | head -1)
  sources=${sources:-/etc/apt/sources.list}
  sed "s/$(. /etc/os-release && echo "$VERSION_CODENAME")/$RELEASE/g" "$sources" > "$work/$(basename "$sources")"
  mmdebstrap --quiet --mode=root --variant=minbase --include=python3,python3-venv,ca-certificates \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    "$RELEASE" "$work/debian.tar" "$work/$(basename "$sources")"
  container=$(buildah_here from scratch)
  buildah_here add --quiet "$container" "$work/debian.tar" / > /dev/null
  buildah_here commit --quiet "$container" localhost/retinue-debian > /dev/null
  buildah_here rm "$container" > /dev/null
  mkdir "$work/debian"
  tar --extract --file "$work/debian.tar" --directory "$work/debian" --exclude './dev/*'
  rm "$work/debian.tar"
}

# What the build installs, fetched by the Python of the base image with the configuration of this machine's pip.
fetch_packages() {
  local configuration=()
  for file in /etc/pip.conf "$HOME/.pip/pip.conf" "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf"; do
    [ ! -f "$file" ] || configuration+=(--ro-bind "$file" "$file")
  done
  # It may name folders of this machine.
  for folder in $(/usr/bin/python3 -m pip config list 2> /dev/null | grep --only-matching --extended-regexp '/[[:alnum:]/._-]+'); do
    folder=${folder%/simple} # an index has its files beside it
    [ ! -d "$folder" ] || configuration+=(--ro-bind "$folder" "$folder")
  done
  mkdir "$work/packages"
  bwrap --bind "$work/debian" / --dev /dev --proc /proc --tmpfs /tmp --bind "$work/packages" /packages \
    --ro-bind /etc/resolv.conf /etc/resolv.conf --ro-bind /etc/hosts /etc/hosts --ro-bind /etc/ssl/certs /etc/ssl/certs \
    --ro-bind requirements.lock /requirements.lock "${configuration[@]}" \
    sh -ec 'python3 -m venv /tmp/fetch
      /tmp/fetch/bin/pip wheel --quiet --disable-pip-version-check --no-cache-dir --no-deps \
        --wheel-dir /packages --requirement /requirements.lock'
  rm -rf "$work/debian"
  printf '[global]\nno-index = true\nfind-links = /packages\ndisable-pip-version-check = true\n' > "$work/pip.conf"
}

build() {
  buildah_here bud --quiet --isolation chroot --network host --format docker --layers \
    --volume "$work/packages:/packages:ro" --volume "$work/pip.conf:/etc/pip.conf:ro" \
    --build-arg BASE=localhost/retinue-debian --build-arg VERSION="$(git describe --always)" \
    --build-arg COMMIT="$(git rev-parse HEAD)" \
    --file deploy/Dockerfile --target "$1" --tag "localhost/retinue:$1" . > /dev/null
}

asked() { curl --silent --fail --max-time 2 "http://127.0.0.1:$PORT$1"; }

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
    if asked /health/ready > "$work/answer"; then
      check_started "$target" "$root"
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
  local target=$1 root=$2 pid owner version
  echo "$target: /health/ready answers $(cat "$work/answer")"
  pid=$(pgrep --newest --parent "$(pgrep --parent "$server" | head -1)" || pgrep --parent "$server" | head -1)
  owner=$(stat --format=%u "/proc/$pid")
  [ "$owner" = 10001 ] || { echo "$target: the server runs as user $owner"; return 1; }
  awk '$5 == "/" && $6 ~ /^ro(,|$)/ { is_read_only = 1 } END { exit !is_read_only }' "/proc/$pid/mountinfo" || { echo "$target: its root can be written to"; return 1; }
  echo "$target: it runs as user $owner, with a read-only root"
  asked /health | grep --quiet "\"commit\":\"$(git rev-parse HEAD)\"" || { echo "$target: /health names another commit"; return 1; }
  for program in pg_dump pg_restore; do
    version=$(in_image "$root" "/usr/lib/postgresql/17/bin/$program" --version) || { echo "$target: $program 17 is missing"; return 1; }
    echo "$target: $version"
  done
}

in_image() {
  local root=$1
  shift
  bwrap --ro-bind "$root" / --proc /proc --dev /dev --unshare-pid --die-with-parent --clearenv "$@"
}

[ -f src/retinue/console/web/index.html ] || python3 packaging/console_build.py build
make_base_image
echo "Debian with Python: $(buildah_here images --format '{{.Size}}' localhost/retinue-debian)"
fetch_packages
for target in $TARGETS; do
  build "$target"
  start "$target"
done

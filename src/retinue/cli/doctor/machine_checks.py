"""Checks of the settings, the data dir and the machine; none opens the database."""

import hashlib
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from retinue.adapters.embedded.weights import WEIGHTS_CATALOGUE, find
from retinue.cli.doctor.findings import Finding, Findings, fail, ok, warn
from retinue.kit.clock import SystemClock, parse_instant
from retinue.kit.db.databases import is_postgres, sqlite_path
from retinue.kit.extras import EXTRAS, is_installed
from retinue.kit.last_backup import find_last_backup
from retinue.kit.machine import reachable_descriptors
from retinue.kit.settings import BadSetting, Settings, is_loopback
from retinue.kit.storage_watch import has_room, written_folders
from retinue.kit.vault import root_keys

MIN_FREE_BYTES = 1024**3
MIN_FREE_SHARE = 0.05
MIN_DESCRIPTORS = 4096
MAX_BACKUP_AGE_HOURS = 36
_NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "glusterfs", "ceph", "fuse.sshfs"}
_SAMPLE_PASSWORDS = ("password", "changeme", "change-me", "secret", "admin", "sample", "example")
_CHUNK_BYTES = 1024 * 1024


def check_machine(settings: Settings, warnings: list[str]) -> Findings:
    yield from _settings(settings, warnings)
    yield from _data_dir(settings)
    yield _descriptors()
    yield _extras()
    yield from _models(settings)
    yield _egress(settings)
    yield _last_backup(settings)


def _settings(settings: Settings, warnings: list[str]) -> Findings:
    if warnings:
        yield warn("settings", "; ".join(warnings), "Correct or remove these variables.")
    else:
        yield ok("settings", "every RETINUE_ variable is known")
    yield _base_url(settings.base_url)
    yield _sample_secrets(settings)


def _base_url(base_url: str) -> Finding:
    if not base_url:
        hint = "Set RETINUE_BASE_URL if others reach this instance: links in mails come from it."
        return ok("base_url", f"not set; {hint}")
    parts = urlsplit(base_url)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        hint = "Put a proxy with TLS in front and set RETINUE_BASE_URL to its https address."
        return warn("base_url", f"{base_url} is reached without TLS", hint)
    return ok("base_url", base_url)


def _sample_secrets(settings: Settings) -> Finding:
    """Refuse passwords from examples; `root_keys` refuses sample master keys by itself."""
    password = settings.admin_password.reveal().lower() if settings.admin_password else ""
    if password.startswith(_SAMPLE_PASSWORDS):
        hint = "Choose another one, or leave it out: a random one is printed at the first start."
        return fail("sample_secrets", "RETINUE_ADMIN_PASSWORD looks like a sample value", hint)
    try:
        root_keys(settings, may_create=False)
    except BadSetting as error:
        return fail("sample_secrets", str(error), "Set a random master key that only its owner can read.")
    return ok("sample_secrets", "no sample value is used as a secret")


def _data_dir(settings: Settings) -> Findings:
    folder = settings.data_dir
    if not folder.is_dir():
        hint = "Run the command in the folder of the server, or set RETINUE_DATA_DIR."
        yield fail("data_dir", f"{folder.absolute()} does not exist", hint)
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        hint = "Run the command and the server as the same user, who owns this folder."
        yield fail("data_dir", f"{folder} is not writable for this user", hint)
    elif open_paths := [path for path in (folder, *_secret_files(settings)) if path.stat().st_mode & 0o007]:
        names = ", ".join(map(str, open_paths))
        yield warn("data_dir", f"every user of this machine can read {names}", f"chmod o-rwx {names}")
    else:
        yield ok("data_dir", f"{folder} belongs to this user only")
    yield _free_space(settings)
    yield _file_system(settings)


def _secret_files(settings: Settings) -> list[Path]:
    candidates = [settings.data_dir / "files", settings.data_dir / "master.key"]
    if not is_postgres(settings):
        candidates.append(sqlite_path(settings))
    return [path for path in candidates if path.exists()]


def _free_space(settings: Settings) -> Finding:
    usage = shutil.disk_usage(settings.data_dir)
    detail = f"{_size(usage.free)} of {_size(usage.total)} are free"
    writable = [path for path in written_folders(settings) if os.access(path, os.W_OK)]
    if full := sorted(str(path) for path in writable if not has_room(path)):
        hint = "Free some space, or raise the quota: every write is refused with 507 storage_full."
        return fail("free_space", f"there is no room to write in {', '.join(full)}; {detail}", hint)
    if usage.free < MIN_FREE_BYTES or usage.free < usage.total * MIN_FREE_SHARE:
        return warn("free_space", detail, "Free some space: a full disk stops every write.")
    return ok("free_space", detail)


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def _file_system(settings: Settings) -> Finding:
    if is_postgres(settings):
        return ok("file_system", "the database is not a file here")
    kind = _file_system_of(sqlite_path(settings).absolute().parent)
    if kind in _NETWORK_FILE_SYSTEMS:
        hint = "Move the data dir to a local disk, or use PostgreSQL: locks over a network lose data."
        return fail("file_system", f"SQLite is on the network file system {kind}", hint)
    return ok("file_system", kind or "unknown")


def _file_system_of(folder: Path) -> str:
    """Return the type of the innermost mount that contains the folder."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for line in lines:
        _, mount, type_, *_ = line.split()
        mount = mount.replace("\\040", " ")
        if len(mount) >= len(best) and folder.is_relative_to(mount):
            best, kind = mount, type_
    return kind


def _descriptors() -> Finding:
    # A shell's own limit is often 1024; a server raises its own to what it may.
    limit = reachable_descriptors()
    detail = f"a server may have {limit} open files"
    if limit < MIN_DESCRIPTORS:
        hint = f"Raise it to at least {MIN_DESCRIPTORS}: ulimit -Hn, or LimitNOFILE of the unit."
        return warn("descriptors", detail, hint)
    return ok("descriptors", detail)


def _extras() -> Finding:
    absent = [name for name in EXTRAS if not is_installed(name)]
    if not absent:
        return ok("extras", "all are installed")
    commands = f"pip install 'retinue[{','.join(absent)}]' adds them"
    return ok("extras", f"not installed: {', '.join(absent)}; {commands}")


def _models(settings: Settings) -> Findings:
    folder = settings.models_folder
    catalogue = [weights for weights in WEIGHTS_CATALOGUE if is_installed(weights.extra)]
    missing = [weights.model for weights in catalogue if find(folder, weights) is None]
    if missing:
        detail = f"without weights: {', '.join(missing)}"
        yield warn("models", detail, "retinue models pull downloads them, if embedded models are wanted.")
    damaged = [
        f"{weights.model}/{file.name}"
        for weights in catalogue
        if weights.model not in missing
        for file in weights.files
        if _sha256(folder / weights.model / file.name) != file.sha256
    ]
    if damaged:
        hint = f"Delete these files below {folder} and run retinue models pull."
        yield fail("model_sums", f"damaged: {', '.join(damaged)}", hint)
    elif len(missing) < len(catalogue):
        yield ok("model_sums", f"{len(catalogue) - len(missing)} models have the right sums")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _egress(settings: Settings) -> Finding:
    allowed = settings.egress_allowed()
    is_wide = any(entry.endswith("/0") for entry in allowed)
    if is_wide:
        hint = "Name single hosts in RETINUE_EGRESS_ALLOW: tools of every tenant reach what it names."
        return fail("egress", "outgoing calls may reach every private address", hint)
    if settings.egress_allow is None and not (settings.base_url or settings.trusted_proxies):
        # Whether the instance is a development instance depends on the address that the server binds.
        known = "none known; a server on loopback allows 127.0.0.0/8, a worker only with RETINUE_BASE_URL"
        return ok("egress", f"private addresses allowed: {known}")
    return ok("egress", f"private addresses allowed: {', '.join(allowed) or 'none'}")


def _last_backup(settings: Settings) -> Finding:
    hint = "Run retinue backup every day, for example with cron: docs/guides/backup.md."
    last = find_last_backup(settings)
    if last is None:
        return warn("last_backup", "no backup was made from here yet", hint)
    age_hours = (SystemClock().time() - parse_instant(last.created_at).timestamp()) / 3600
    detail = f"{age_hours:.0f} hours old: {last.file}"
    return (
        warn("last_backup", detail, hint) if age_hours > MAX_BACKUP_AGE_HOURS else ok("last_backup", detail)
    )

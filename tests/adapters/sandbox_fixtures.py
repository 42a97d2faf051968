"""One sandbox for all its tests; a plugin of the test modules that name it."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import retinue
from retinue.adapters.sandbox import LocalSandbox
from tests.adapters.sandbox_ways import CANARY, Canaries, Way, backend, needs


@pytest.fixture(scope="session")
def sandbox_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sandbox")
    (folder / "scripts").mkdir()
    (folder / "files").mkdir()
    (folder / "secret.txt").write_text(CANARY)
    return folder


@pytest.fixture(scope="session")
async def sandbox(sandbox_dir: Path) -> AsyncIterator[LocalSandbox]:
    needs("bwrap")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETINUE_CANARY", CANARY)
        made = LocalSandbox(sandbox_dir)
        await made.status()
        yield made
        await made.close()


@pytest.fixture(scope="session")
def ways(sandbox: LocalSandbox, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Way]:
    """Every backend, by name; the programs get a folder without packages."""
    empty = tmp_path_factory.mktemp("packages")
    (empty / "node_modules").mkdir()
    every: dict[str, dict[str, Any]] = {
        "wasm.javascript": {"runtime": "javascript"},
        "wasm.python": {"runtime": "python"},
        "bubblewrap.python_functions": {"runtime": "python"},
        "bubblewrap.python": {"runtime": "python", "packages": empty},
        "bubblewrap.node": {"runtime": "javascript", "packages": empty},
    }
    return {name: Way(backend(sandbox, name), **more) for name, more in every.items()}


@pytest.fixture
async def way(request: pytest.FixtureRequest, sandbox: LocalSandbox, ways: dict[str, Way]) -> Way:
    """The backend that a test is given by name."""
    if request.param == "bubblewrap.node":
        needs("node")
    trouble = await backend(sandbox, request.param).trouble()
    if request.param == "wasm.python" and "pyeryx" in trouble:
        pytest.skip(trouble)
    assert trouble == ""
    return ways[request.param]


@pytest.fixture
async def unharmed(way: Way) -> AsyncIterator[None]:
    """Checks after the test that the backend answers the next call."""
    yield
    is_javascript = way.runtime == "javascript"
    source = "function main(input) { return input }" if is_javascript else "def main(input): return input"
    assert (await way(source, "still here")).output == "still here"


@pytest.fixture
def canaries(tmp_path: Path) -> Iterator[Canaries]:
    made = Canaries(tmp_path)
    yield made
    made.close()


@pytest.fixture
def surroundings(canaries: Canaries, sandbox_dir: Path, tmp_path: Path) -> dict[str, Any]:
    """The paths, ports and process ids of the secrets, handed to every attack."""
    return {
        "canary": CANARY,
        "data_file": str(sandbox_dir / "secret.txt"),
        "app_file": retinue.__file__,
        "tcp": canaries.tcp.getsockname()[1],
        "udp": canaries.udp.getsockname()[1],
        "unix": str(tmp_path / "canary.sock"),
        "abstract": CANARY,
        "server": os.getpid(),
    }

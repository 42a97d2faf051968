"""The built console: small enough, complete, from a lock file that names no registry."""

import gzip
import json
import re
import zlib
from pathlib import Path

import pytest

from retinue.console import files

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.either_database
MAX_FIRST_LOAD_BYTES = 250_000
MAX_FIRST_LOAD_FILES = 8
"""With fonts and data, a first load has 20 requests at most: tests/browser counts them."""
MAX_SCREEN_BYTES = 60_000
HOME = "src/features/home/home.tsx"
HIGHLIGHTING = "src/shared/markdown/highlighted_code.tsx"
LIBRARIES = {
    "src/features/agents/draft/instructions/editor.tsx": 161_000,
    "src/features/tools/define/code_editor.tsx": 110_000,
    "src/shared/i18n/german.ts": 90_000,
}
"""Modules that are loaded after their screen is drawn, and all German words, with their maximum in bytes."""
LOCK = json.loads((ROOT / "console" / "package-lock.json").read_text())


@pytest.fixture(scope="module")
def manifest() -> dict:
    assert files.is_built(), "build the console first: make console"
    return json.loads((files.WEB / "manifest.json").read_text())


def loaded_files(manifest: dict, entry: str) -> set[str]:
    """The files that the browser loads for an entry before it can show it."""
    todo, seen, names = [entry], set(), set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        chunk = manifest[name]
        names |= {chunk["file"], *chunk.get("css", [])}
        todo += chunk.get("imports", [])
    return names


def compressed_size(names: set[str]) -> int:
    return sum((files.WEB / f"{name}.gz").stat().st_size for name in names)


def test_the_first_load_and_each_screen_stay_within_their_budgets(manifest: dict) -> None:
    entry = next(name for name, chunk in manifest.items() if chunk.get("isEntry"))
    first = loaded_files(manifest, entry)
    home = first | loaded_files(manifest, HOME)
    assert compressed_size(home) <= MAX_FIRST_LOAD_BYTES
    assert len(home) <= MAX_FIRST_LOAD_FILES
    for name, chunk in manifest.items():
        if chunk.get("isDynamicEntry"):
            limit = LIBRARIES.get(name, MAX_SCREEN_BYTES)
            assert compressed_size(loaded_files(manifest, name) - first) <= limit, name


def test_code_is_coloured_by_a_chunk_of_the_console_alone(manifest: dict) -> None:
    assert manifest[HIGHLIGHTING]["isDynamicEntry"]
    assert not [name for name, chunk in manifest.items() if HIGHLIGHTING in chunk.get("imports", [])]
    assert "hljs" not in (files.WEB / "public" / "widget.js").read_text()


def test_fonts_and_package_stay_small(manifest: dict) -> None:
    kept = [path for path in files.WEB.rglob("*") if path.is_file()]
    # A wheel is a zip file.
    assert sum(len(zlib.compress(path.read_bytes())) for path in kept) <= 1_500_000
    assert sum(path.stat().st_size for path in kept if path.suffix == ".woff2") <= 120_000


def test_text_files_are_kept_compressed_large_ones_in_both_forms(manifest: dict) -> None:
    names = {name for chunk in manifest.values() for name in (chunk["file"], *chunk.get("css", []))}
    for name in names:
        if name.endswith((".js", ".css")):
            assert not (files.WEB / name).exists()
            packed = (files.WEB / f"{name}.gz").read_bytes()
            asset = files.find_asset(Path(name).name, "")
            assert asset is not None
            assert asset.content == gzip.decompress(packed)
            smaller = files.WEB / f"{name}.br"
            assert not smaller.exists() or len(packed) - smaller.stat().st_size >= 2_000
    assert [name for name in names if "first_load" in name and (files.WEB / f"{name}.br").is_file()]


def test_the_lock_file_names_no_registry_and_knows_every_platform() -> None:
    packages = LOCK["packages"]
    # A package of the workspace is a link to its folder.
    assert {package["resolved"] for package in packages.values() if "resolved" in package} == {
        name for name in packages if name.startswith("packages/")
    }
    names = " ".join(LOCK["packages"])
    for platform in ("linux-x64-gnu", "linux-arm64-gnu", "darwin-arm64", "win32-x64"):
        assert f"rolldown/binding-{platform}" in names


def test_only_the_tokens_name_colours() -> None:
    for path in (ROOT / "console" / "src").rglob("*.css"):
        if path.name != "tokens.css":
            assert not re.findall(r"#[0-9a-fA-F]{3,8}\b", path.read_text()), path.name

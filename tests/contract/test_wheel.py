"""A wheel is the same byte by byte wherever it is built; `scripts/first_chat.py wheel` compares real ones."""

import base64
import csv
import hashlib
import importlib.util
import io
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"
FILES = {
    "shop/__init__.py": b"OPEN = 9\n",
    "shop/page.html": b"<p>Hello</p>\n",
    "shop-1.dist-info/METADATA": b"Name: shop\n",
    "shop-1.dist-info/RECORD": b"stale,,\n",
}


def test_no_package_carries_the_pictures_of_the_guides() -> None:
    tool = tomllib.loads((PACKAGING.parent / "pyproject.toml").read_text())["tool"]["setuptools"]
    carried = [pattern for patterns in tool["data-files"].values() for pattern in patterns]
    assert carried
    assert [pattern for pattern in carried if "pictures" in pattern or ".png" in pattern] == []
    assert "prune docs/pictures" in (PACKAGING.parent / "MANIFEST.in").read_text().splitlines()


@pytest.fixture
def wheel_archive() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wheel_archive", PACKAGING / "wheel_archive.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(folder: Path, *, year: int, mode: int, is_reversed: bool) -> Path:
    """Return a wheel built with these times, modes and order of files."""
    folder.mkdir()
    wheel = folder / "shop-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in sorted(FILES, reverse=is_reversed):
            member = zipfile.ZipInfo(name, (year, 2, 3, 4, 5, 6))
            member.external_attr = mode << 16
            archive.writestr(member, FILES[name])
    return wheel


def test_machines_build_the_same_wheel(
    tmp_path: Path, wheel_archive: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    sbom = tmp_path / "shop.cdx.json"
    sbom.write_text("{}")
    one = build(tmp_path / "one", year=2020, mode=0o100600, is_reversed=False)
    other = build(tmp_path / "other", year=2026, mode=0o100775, is_reversed=True)
    assert one.read_bytes() != other.read_bytes()
    for wheel in (one, other):
        wheel_archive.rewrite(wheel, sbom)
    assert one.read_bytes() == other.read_bytes()
    assert [path.name for path in one.parent.iterdir()] == [one.name]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    wheel_archive.rewrite(other, sbom)
    assert one.read_bytes() != other.read_bytes()


def test_the_wheel_is_whole_and_lists_what_it_is_made_of(tmp_path: Path, wheel_archive: ModuleType) -> None:
    sbom = tmp_path / "shop.cdx.json"
    sbom.write_text('{"components": []}')
    wheel = build(tmp_path / "one", year=2020, mode=0o100600, is_reversed=False)
    wheel_archive.rewrite(wheel, sbom)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert contents["shop-1.dist-info/sboms/shop.cdx.json"] == sbom.read_bytes()
    record = contents.pop("shop-1.dist-info/RECORD").decode()
    rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(record))}
    assert rows.pop("shop-1.dist-info/RECORD") == ("", "")
    assert rows == {
        name: (
            "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode(),
            str(len(content)),
        )
        for name, content in contents.items()
    }

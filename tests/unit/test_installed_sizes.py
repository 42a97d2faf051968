"""The markers of requirements mean what pip takes them for."""

import sys
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.installed_sizes import is_true, parse

MARKERS = [
    "python_version >= '3.9'",
    "python_version < '3.10'",
    "python_full_version >= '3.11.0'",
    "extra == 'Some_Extra'",
    "extra == 'other'",
    "sys_platform == 'win32' or platform_system != 'Windows'",
    "(python_version >= '3.8' and extra == 'some-extra') or os_name == 'nt'",
    "'linux' in sys_platform",
    "platform_machine not in 'x86_64 aarch64 arm64'",
    "implementation_name == 'cpython' and platform_python_implementation != 'PyPy'",
]


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("extra", ["", "some-extra"])
def test_a_marker_is_evaluated_as_packaging_does(marker: str, extra: str) -> None:
    expected = Requirement(f"x; {marker}").marker
    assert expected is not None
    assert is_true(marker, extra) is expected.evaluate({"extra": extra})


def test_every_requirement_of_this_environment_is_read_as_packaging_does() -> None:
    lines = {line for found in metadata.distributions() for line in found.requires or ()}
    assert len(lines) > 100, sys.prefix
    for line in lines:
        mine, theirs = parse(line), Requirement(line)
        assert mine.name == canonicalize_name(theirs.name), line
        assert mine.extras == {canonicalize_name(extra) for extra in theirs.extras}, line
        if theirs.marker is not None:
            for extra in ("", "all", "dev"):
                assert is_true(mine.marker, extra) is theirs.marker.evaluate({"extra": extra}), line

"""Extras that are missing are named."""

from collections.abc import Iterator

import pytest

from retinue.kit import extras
from retinue.kit.errors import InternalError
from retinue.kit.extras import EXTRAS, Extra, ExtraName, is_installed, require_extra


@pytest.fixture
def without_local(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pretends that a package of the extra is missing."""
    changed: dict[ExtraName, Extra] = {**EXTRAS, "local": Extra("Models", ("json", "no_such_module_here"))}
    monkeypatch.setattr(extras, "EXTRAS", changed)
    is_installed.cache_clear()
    yield
    is_installed.cache_clear()


def test_an_extra_that_is_there_is_not_mentioned() -> None:
    for name in EXTRAS:
        assert is_installed(name)
        require_extra(name, InternalError)


@pytest.mark.usefixtures("without_local")
def test_an_extra_of_which_a_package_is_missing_is_named_with_the_command() -> None:
    assert not is_installed("local")
    with pytest.raises(InternalError) as refused:
        require_extra("local", InternalError)
    assert str(refused.value.message) == (
        "Models need packages that are not installed. On the server, run `pip install 'retinue[local]'` "
        "and restart it."
    )


def test_a_module_whose_import_is_refused_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_name: str) -> None:
        raise ModuleNotFoundError

    monkeypatch.setattr("importlib.util.find_spec", refuse)
    assert not extras._can_import("json")

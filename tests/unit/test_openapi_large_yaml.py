"""YAML of up to 8 MiB is parsed in a child process: in full, or refused before it uses up the machine."""

import json
import time

import pytest
import yaml

from retinue.adapters.openapi import (
    DocumentReaderUnavailable,
    InvalidDocument,
    parse_api,
    read_text,
    text_reader,
)
from retinue.kit.fair_queue import NOBODY
from tests.unit.openapi_samples import pets

MIB = 1024 * 1024
MANY_KEYS = ", ".join(f"k{n}: 1" for n in range(1000))
PADDING = "#" * (MIB // 2) + "\n"


def billion_laughs(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def chained_aliases(levels: int) -> str:
    return "a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, levels))


def large_api(size: int) -> str:
    """A document of that many bytes, in the style of generated ones."""
    lines = ["openapi: 3.0.0", "info: {title: Things}", "servers: [{url: 'https://x.example'}]", "paths:"]
    written = 0
    while written < size:
        path = f"  /things/{len(lines)}/{{id}}:"
        lines += [path, "    get:", "      description: >-", "        " + "words of a description " * 20]
        lines += ["      responses:", "        '200': {description: ok}"]
        written += 620
    return "\n".join(lines)


async def expect_refusal(text: str) -> str:
    with pytest.raises(InvalidDocument) as caught:
        await read_text(text.encode(), NOBODY)
    return caught.value.details["document"]


async def test_a_large_text_is_parsed_as_a_small_one_is():
    document = {**pets(), "x-aliases": None}
    text = yaml.safe_dump(document).replace("x-aliases: null", "x-aliases: {a: &a [1, é], b: *a, c: 1e3}")
    parsed = await read_text((PADDING + text).encode(), NOBODY)
    assert parsed == {**document, "x-aliases": {"a": [1, "é"], "b": [1, "é"], "c": 1000.0}}
    assert json.loads(json.dumps(parsed)) == parsed


async def test_a_document_of_a_mebibyte_is_imported():
    api = parse_api(await read_text(large_api(MIB // 2 + 1000).encode(), NOBODY))
    assert len(api.endpoints) > 800


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (billion_laughs(30), "has YAML aliases that repeat too much"),
        (chained_aliases(20_000), "has YAML aliases that repeat too much"),
        (chained_aliases(4_000), "is nested too deeply"),
        ("a: " + "[" * MIB, "is nested too deeply"),
        ("- " * MIB, "is nested too deeply"),
        ("a: &a [*a]", "has a YAML alias before its anchor is complete"),
        ("a: [", "is not valid YAML"),
        (f"a: &a {'x' * 100_000}\nb: [" + "*a," * 1000 + "]", "has YAML aliases that repeat too much"),
        (f"a: &a {{{MANY_KEYS}}}\nb: [" + "{<<: *a}," * 2000 + "]", "has too much YAML"),
    ],
)
async def test_a_hostile_text_is_refused_in_time(text, why):
    begun = time.monotonic()
    assert (await expect_refusal(text + "\n" + PADDING)).startswith(why)
    assert time.monotonic() - begun < 20


async def test_a_text_that_is_too_large_or_not_text_is_refused_without_a_child(monkeypatch):
    monkeypatch.setattr(text_reader, "_run_child", None)
    assert await expect_refusal("a: b\n" * 4 * MIB) == "has 20.0 MiB, and at most 16 MiB are read"
    with pytest.raises(InvalidDocument):
        await read_text(b"a: \xff" + PADDING.encode(), NOBODY)


async def test_a_machine_that_cannot_confine_the_child_says_so(monkeypatch):
    async def not_confined(*_):
        return text_reader.NOT_CONFINED, b""

    monkeypatch.setattr(text_reader, "_run_child", not_confined)
    with pytest.raises(DocumentReaderUnavailable):
        await read_text((PADDING + "a: b").encode(), NOBODY)


@pytest.mark.slow
async def test_the_largest_texts_are_parsed_or_refused_in_time():
    begun = time.monotonic()
    assert len((await read_text(large_api(8 * MIB - 100_000).encode(), NOBODY))["paths"]) > 10_000
    assert (await expect_refusal("- a\n" * (2 * MIB - 1))).startswith("has too much YAML")
    assert (await expect_refusal("a: [" + "a," * (4 * MIB - 4) + "]")).startswith("has too much YAML")
    assert time.monotonic() - begun < 120

"""The transcripts of the guide are what happens."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from tests.client import Api

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "credentials.md"
_TRANSCRIPT = re.compile(r"```console\n\$ (.*?)(?<!\\)\n(\{.*?)```", re.DOTALL)


def transcripts(guide: Path = GUIDE) -> list[tuple[list[str], Any]]:
    """The arguments of each curl command, and what is shown of its answer."""
    found = _TRANSCRIPT.findall(guide.read_text())
    return [(shlex.split(command.replace("\\\n", " ")), json.loads(shown)) for command, shown in found]


async def curl(person: Api, arguments: list[str], id: str) -> Any:
    options = iter(arguments[1:])
    method, body, path = "GET", None, ""
    for option in options:
        if option == "-d":
            method, body = "POST" if method == "GET" else method, json.loads(next(options))
        elif option == "-X":
            method = next(options)
        elif option == "-H":
            next(options)
        elif option != "-s":
            path = option.removeprefix("$RETINUE").replace("$ID", id)
    answer = await person.request(method, path, json=body)
    assert answer.status in {200, 201}, (arguments, answer)
    return answer.json()


def assert_shown(shown: Any, real: Any) -> None:
    """What is shown is there; `…` stands for any end of a text."""
    if isinstance(shown, dict):
        for key, value in shown.items():
            assert_shown(value, real[key])
    elif isinstance(shown, list):
        assert len(shown) == len(real)
        for value, found in zip(shown, real, strict=True):
            assert_shown(value, found)
    elif isinstance(shown, str) and shown.endswith("…"):
        assert real.startswith(shown[:-1])
    else:
        assert shown == real


async def test_the_examples_of_the_guide_are_true(owner) -> None:
    found, id = transcripts(), ""
    assert len(found) == 6
    for arguments, shown in found:
        real = await curl(owner, arguments, id)
        assert_shown(shown, real)
        id = id or real["data"]["id"]

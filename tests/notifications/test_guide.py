"""The transcripts of the guide are what happens."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.client import Api
from tests.credentials.test_guide import assert_shown, transcripts

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "notifications.md"


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
    assert answer.status in {200, 201, 202}, (arguments, answer)
    return answer.json()


@pytest.mark.either_database
async def test_the_examples_of_the_guide_are_true(admin: Api) -> None:
    found, id = transcripts(GUIDE), ""
    assert len(found) == 5
    for arguments, shown in found:
        real = await curl(admin, arguments, id)
        assert_shown(shown, real)
        id = id or real["id"]

"""The transcripts of the guide are what happens."""

import json
from pathlib import Path

import pytest

from tests.credentials.test_guide import assert_shown, transcripts

pytestmark = pytest.mark.either_database

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "incoming-webhooks.md"


def request_of(arguments: list[str], values: dict[str, str]) -> tuple[str, str, dict[str, str], bytes]:
    """Method, path, headers and the very bytes of a curl command, with the guide's variables filled in."""
    for name, value in values.items():
        arguments = [argument.replace(f"${name}", value) for argument in arguments]
    method, path, body = "GET", "", b""
    headers: dict[str, str] = {}
    options = iter(arguments[1:])
    for option in options:
        if option == "-H":
            name, _, value = next(options).partition(": ")
            headers[name] = value
        elif option == "-d":
            method, body = "POST" if method == "GET" else method, next(options).encode()
        elif option == "-X":
            method = next(options)
        elif option != "-s":
            path = option
    return method, path, headers, body


async def test_the_guide_shows_what_is_answered(admin, api) -> None:
    values = {"RETINUE": "", "TOKEN": admin.token}
    found = transcripts(GUIDE)
    assert len(found) == 8
    for arguments, shown in found:
        method, path, headers, body = request_of(arguments, values)
        if path.startswith("/webhooks/in/"):
            # What curl says a body is unless it is told something else.
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        answer = await api.request(method, path, headers=headers, content=body)
        assert (answer.status >= 400) == ("error" in shown), (arguments, answer)
        real = json.loads(answer.body)
        assert_shown(shown, real)
        if "url" in shown:
            values["ID"] = real["id"]
        elif real.get("received") and not real["duplicate"]:
            values["EVENT"] = real["id"]

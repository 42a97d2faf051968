"""The transcripts of the guide are what happens."""

import json
from pathlib import Path

from tests.credentials.test_guide import assert_shown, transcripts
from tests.embed.keys import PATH, make_key

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "embedding.md"


def request_of(arguments: list[str], values: dict[str, str]) -> tuple[str, str, dict[str, str], object]:
    """Method, path, headers and body of a curl command, with the guide's variables filled in."""
    for name, value in values.items():
        arguments = [argument.replace(f"${name}", value) for argument in arguments]
    method, path, body = "GET", "", None
    headers: dict[str, str] = {}
    options = iter(arguments[1:])
    for option in options:
        if option == "-H":
            name, _, value = next(options).partition(": ")
            headers[name] = value
        elif option == "-d":
            method, body = "POST", json.loads(next(options))
        elif option == "-X":
            method = next(options)
        elif option != "-s":
            path = option
    return method, path, headers, body


async def test_the_guide_shows_what_is_answered(admin, agent, api):
    made = await make_key(admin, agent, allowed_domains=["example.com"])
    values = {
        "RETINUE": "",
        "TOKEN": admin.token,
        "AGENT": agent["id"],
        "KEY": made["api_key"],
        "ID": made["id"],
    }
    found = transcripts(GUIDE)
    assert len(found) == 3
    for arguments, shown in found:
        method, path, headers, body = request_of(arguments, values)
        answer = await api.request(method, path, headers=headers, json=body)
        assert answer.status in {200, 201}, (arguments, answer)
        assert_shown(shown, answer.json())
    assert (await admin.get(PATH)).status == 200

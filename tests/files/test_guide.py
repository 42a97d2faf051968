"""The transcripts of the guide are what happens."""

import json
from pathlib import Path

from tests.credentials.test_guide import assert_shown, transcripts

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "files.md"


async def curl(person, arguments: list[str], file_id: str):
    fields, files, body, path = {}, {}, None, ""
    options = iter(arguments[1:])
    for option in options:
        if option == "-F":
            name, _, value = next(options).partition("=")
            if value.startswith("@"):
                files[name] = (value[1:], b"print(1)\n", "text/x-python")
            else:
                fields[name] = value
        elif option == "-d":
            body = json.loads(next(options))
        elif option == "-H":
            next(options)
        elif option != "-s":
            path = option.removeprefix("$RETINUE").replace("$ID", file_id)
    if files:
        return await person.post(path, files=files, fields=fields)
    return await person.request("GET" if body is None else "POST", path, json=body)


async def test_the_guide_shows_what_is_answered(files):
    found, file_id = transcripts(GUIDE), ""
    assert len(found) == 3
    for arguments, shown in found:
        answer = await curl(files.person, arguments, file_id)
        assert answer.status in {200, 201}, (arguments, answer)
        assert_shown(shown, answer.json())
        file_id = file_id or answer.json()["data"]["file_id"]

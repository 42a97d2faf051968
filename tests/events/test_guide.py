"""The transcripts of the guide are what happens."""

from pathlib import Path

from retinue.app import Service
from tests.client import Api
from tests.credentials.test_guide import assert_shown, transcripts
from tests.embed.test_guide import request_of

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "events.md"


async def test_the_guide_shows_what_is_answered(service: Service, admin: Api) -> None:
    values = {"RETINUE": "", "TOKEN": admin.token, "ID": ""}
    found = transcripts(GUIDE)
    assert len(found) == 5
    for arguments, shown in found:
        method, path, headers, body = request_of(arguments, values)
        answer = await admin.request(method, path, headers=headers, json=body)
        assert answer.status in {200, 201, 202}, (arguments, answer)
        assert_shown(shown, answer.json())
        values["ID"] = values["ID"] or answer.json()["id"]
        await service.runner.drain()

"""The transcripts of the guide are what happens."""

from pathlib import Path

from retinue.app import Service
from tests.client import Api
from tests.credentials.test_guide import assert_shown, transcripts
from tests.embed.test_guide import request_of

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "workflows.md"


async def test_the_guide_shows_what_is_answered(service: Service, admin: Api) -> None:
    values = {"RETINUE": "", "TOKEN": admin.token, "ID": "", "RUN": ""}
    found = transcripts(GUIDE)
    assert len(found) == 6
    for arguments, shown in found:
        method, path, headers, body = request_of(arguments, values)
        answer = await admin.request(method, path, headers=headers, json=body)
        assert answer.status in {200, 201, 202}, (arguments, answer)
        assert_shown(shown, answer.json())
        data = answer.json()["data"]
        values["ID"] = values["ID"] or data["id"]
        values["RUN"] = values["RUN"] or data.get("execution_id", "")
        await service.runner.drain()

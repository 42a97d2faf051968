"""The conversation in the guide is what happens."""

import json
from pathlib import Path

import pytest

from tests.credentials.test_guide import assert_shown, transcripts
from tests.factories.forms import EMAIL, NAME, make_form, submission

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "forms.md"
SIZE = {"id": "size", "type": "number", "label": "Team size", "required": True}


@pytest.mark.either_database
async def test_the_conversation_of_the_guide_is_true(person, api) -> None:
    form = await make_form(person, NAME, EMAIL, {**SIZE, "validation": {"min": 1, "max": 10}}, name="Team")
    found = [one for one in transcripts(GUIDE) if any("/conversations" in part for part in one[0])]
    assert len(found) == 6
    id, real = "", {}
    for arguments, shown in found:
        where = arguments[2].removeprefix("$BASE").replace("$SLUG", form["slug"]).replace("$ID", id)
        answer = await api.post(where, json.loads(arguments[arguments.index("--json") + 1]))
        assert answer.status in {200, 201}, (arguments, answer)
        real = answer.json()
        assert_shown(shown, real)
        id = id or real["data"]["id"]
    kept = await submission(person, form, real["data"]["submission_id"])
    assert kept["data"] == {"name": "Ada Lovelace", "size": 9}

"""A form that is not saved is shown as visitors would see it, and answers are tried on it."""

from typing import Any

from tests.client import Api
from tests.factories.forms import EMAIL, NAME, PATH, make_form, submit
from tests.forms.tables import make_table

SIZE = {"id": "size", "type": "number", "label": "Size", "validation": {"min": 3}}


async def preview(admin: Api, *fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await admin.post(f"{PATH}/preview", {"fields": list(fields), **more})
    assert answer.status == 200, answer
    return dict(answer.json()["data"])


async def test_the_preview_is_what_the_page_of_the_form_would_get(admin: Api) -> None:
    settings = {"submit_button_text": "Off it goes", "notifications": {"email": "owner@example.com"}}
    found = await preview(
        admin, NAME, {"type": "email", "label": "E-mail"}, name="Contact", settings=settings
    )
    form = await make_form(admin, NAME, {"type": "email", "label": "E-mail"}, settings=settings)
    public = (await admin.get(f"/api/v1/public/forms/{form['slug']}?preview=1")).json()["data"]
    assert found == {"form": {**public, "slug": "preview"}, "options": {}}
    assert (await admin.get(PATH)).json()["pagination"]["total"] == 1


async def test_answers_are_checked_as_a_submission_would_be(admin: Api) -> None:
    found = await preview(admin, NAME, EMAIL, SIZE, data={"email": "nobody", "size": 1})
    assert [problem["field"] for problem in found["errors"]] == ["name", "email", "size"]
    assert (await preview(admin, NAME, data={"name": "Ada"}))["errors"] == []


async def test_options_from_a_table_are_there(admin: Api) -> None:
    table = await make_table(admin, {"name": "name", "type": "text"})
    source = {"table_id": table["id"], "value_column": table["columns"][0]["name"]}
    choice = {"id": "choice", "type": "select", "label": "Choice", "data_source": source}
    found = await preview(admin, choice)
    assert list(found["options"]) == ["choice"]


async def test_a_form_that_could_not_be_saved_is_refused_with_the_places(admin: Api) -> None:
    refused = await admin.post(f"{PATH}/preview", {"fields": [{"type": "no-such-type"}]})
    assert refused.status == 422
    assert any(place.startswith("fields.0") for place in refused.details)


async def test_answers_are_counted_by_field(admin: Api) -> None:
    form = await make_form(admin, NAME, EMAIL)
    await submit(admin, form, {"name": "Ada"})
    await submit(admin, form, {"name": "Bob", "email": "bob@example.com"})
    await admin.put(f"{PATH}/{form['id']}", {"fields": [NAME]})
    path = f"{PATH}/{form['id']}"
    assert (await admin.get(f"{path}?include=answer_counts")).json()["data"]["answer_counts"] == {
        "name": 2,
        "email": 1,
    }
    assert "answer_counts" not in (await admin.get(path)).json()["data"]

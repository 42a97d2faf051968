"""Drafts: changes of a form are saved and published as a whole, while the form stays as it is."""

from typing import Any

from tests.client import Api, Response
from tests.factories.forms import EMAIL, NAME, PATH, address, make_form, send
from tests.factories.happenings import only_event
from tests.factories.people import People

Json = dict[str, Any]
PHONE = {"id": "phone", "type": "phone", "label": "Phone"}


def path_of(form: Json) -> str:
    return f"{PATH}/{form['id']}/draft"


async def save(api: Api, form: Json, tag: str | None = None, **content: Any) -> Response:
    return await api.put(path_of(form), {"content": content}, headers={"If-Match": tag} if tag else {})


async def read(api: Api, form: Json) -> Json:
    return (await api.get(f"{PATH}/{form['id']}")).json()["data"]


async def publish(api: Api, form: Json, **body: Any) -> Response:
    return await api.post(f"{PATH}/{form['id']}/publish", {"from_draft": True, **body})


async def test_without_a_stored_draft_the_form_itself_is_shown(admin: Api) -> None:
    form = await make_form(admin)
    answer = await admin.get(path_of(form))
    draft = answer.json()["data"]
    content = draft.pop("content")
    assert draft == {
        "form_id": form["id"],
        "is_stored": False,
        "is_changed": False,
        "is_outdated": False,
        "updated_at": None,
        "updated_by": None,
    }
    assert content == {name: form[name] for name in content}


async def test_visitors_see_the_draft_when_it_is_published(admin: Api, people: People) -> None:
    form = await make_form(admin)
    draft = (await save(admin, form, fields=[NAME, EMAIL, PHONE])).json()["data"]
    assert (draft["is_stored"], draft["is_changed"], draft["is_outdated"]) == (True, True, False)
    assert (await only_event(people, "system.form_draft.saved"))["form_id"] == form["id"]
    before = (await admin.get(address(form))).json()["data"]
    assert [field["id"] for field in before["fields"]] == ["name", "email"]
    assert (await publish(admin, form)).json()["data"]["status"] == "published"
    after = (await admin.get(address(form))).json()["data"]
    assert [field["id"] for field in after["fields"]] == ["name", "email", "phone"]
    assert (await read(admin, form))["version"] == 2
    assert not (await admin.get(path_of(form))).json()["data"]["is_stored"]


async def test_a_form_that_was_never_published_is_published_with_its_draft(admin: Api) -> None:
    form = await make_form(admin, is_draft=True)
    await save(admin, form, name="Ready", settings={"submit_button_text": "Off it goes"})
    assert (await publish(admin, form)).json()["data"]["status"] == "published"
    now = await read(admin, form)
    assert (now["name"], now["settings"]["submit_button_text"]) == ("Ready", "Off it goes")
    assert (await send(admin, form)).status == 201


async def test_a_condition_may_lack_its_value_until_the_draft_is_published(admin: Api) -> None:
    form = await make_form(admin)
    condition = {"field": "name", "operator": "equals"}
    fields = [NAME, {**PHONE, "conditional": condition}]
    assert (await save(admin, form, fields=fields)).status == 200
    refused = await publish(admin, form)
    assert refused.status == 422
    assert (await admin.get(path_of(form))).json()["data"]["is_stored"]
    assert (await save(admin, form, fields=[{"type": "no-such-type"}])).status == 422


async def test_a_change_beside_the_draft_is_not_undone_unasked(admin: Api) -> None:
    form = await make_form(admin)
    await save(admin, form, name="Drafted")
    await admin.put(f"{PATH}/{form['id']}", {"description": "Written meanwhile."})
    assert (await admin.get(path_of(form))).json()["data"]["is_outdated"]
    refused = await publish(admin, form)
    assert (refused.status, refused.code) == (412, "version_conflict")
    assert (await publish(admin, form, force=True)).status == 200
    now = await read(admin, form)
    assert (now["name"], now["description"]) == ("Drafted", "")


async def test_of_two_who_edit_the_draft_the_second_is_told(admin: Api) -> None:
    form = await make_form(admin)
    seen = (await admin.get(path_of(form))).headers["etag"]
    first = await save(admin, form, seen, name="First")
    assert first.status == 200
    refused = await save(admin, form, seen, name="Second")
    assert (refused.status, refused.code) == (412, "version_conflict")
    assert (await save(admin, form, first.headers["etag"], name="Second")).status == 200


async def test_a_discarded_draft_is_gone_and_discarding_again_succeeds(admin: Api, people: People) -> None:
    form = await make_form(admin)
    await save(admin, form, name="Drafted")
    for _ in range(2):
        assert (await admin.delete(path_of(form))).status == 204
    assert (await admin.get(path_of(form))).json()["data"]["content"]["name"] == "Contact"
    refused = await publish(admin, form)
    assert (refused.status, refused.code) == (404, "draft_not_found")
    assert (await only_event(people, "system.form_draft.discarded"))["name"] == "Contact"


async def test_the_draft_goes_with_its_form(admin: Api) -> None:
    form = await make_form(admin)
    await save(admin, form, name="Drafted")
    assert (await admin.delete(f"{PATH}/{form['id']}")).status == 204
    assert (await admin.get(path_of(form))).status == 404

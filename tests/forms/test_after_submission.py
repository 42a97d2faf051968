"""Tests of the processing of a submission: a row, a workflow, notifications; and of failures."""

from retinue.notifications.models import UserNotification
from tests.factories.forms import EMAIL, NAME, PATH, address, make_form, send, submission, submit
from tests.factories.happenings import events
from tests.factories.workflows import make_workflow, node
from tests.forms.tables import TABLES, make_table


async def rows(person, table) -> list[dict]:
    return (await person.get(f"{TABLES}/{table['id']}/rows")).json()["data"]


async def test_a_submission_becomes_a_row_at_once(person, api, people) -> None:
    table = await make_table(
        person,
        {"name": "who", "type": "text"},
        {"name": "mail", "type": "email", "unique": True},
        {"name": "tags", "type": "text"},
    )
    form = await make_form(
        person,
        NAME,
        EMAIL,
        {"id": "likes", "type": "checkbox_group", "options": ["a", "b"]},
        data_table_config={
            "table_id": table["id"],
            "auto_save": True,
            "field_mapping": {"name": "who", "email": "mail", "likes": "tags"},
        },
    )
    answer = await send(api, form, {"name": "Ada", "email": "ada@example.com", "likes": ["a", "b"]})
    assert answer.json()["data"]["status"] == "received"
    kept = await submission(person, form, answer.json()["data"]["submission_id"])
    (row,) = await rows(person, table)
    assert (row["who"], row["mail"], row["tags"]) == ("Ada", "ada@example.com", "a, b")
    assert (kept["status"], kept["data_table_row_id"], kept["data_table_error"]) == (
        "processed",
        row["id"],
        None,
    )
    assert kept["processed_at"]
    assert [one.data["status"] for one in await events(people, "form.submission.updated")] == ["processed"]
    assert (await person.delete(f"{TABLES}/{table['id']}")).code == "table_in_use"


async def test_a_row_that_cannot_be_stored_is_said_and_tried_again(service, person, api, people) -> None:
    table = await make_table(person, {"name": "name", "type": "text", "unique": True})
    config = {"table_id": table["id"], "auto_save": True, "field_mapping": {}}
    form = await make_form(person, NAME, data_table_config=config)
    await submit(api, form)
    id = await submit(api, form)
    kept = await submission(person, form, id)
    assert (kept["status"], kept["data_table_row_id"]) == ("received", None)
    assert kept["data_table_error"]
    again = f"{PATH}/{form['id']}/submissions/{id}/reprocess"
    assert (await person.post(again)).json()["data"]["status"] == "received"
    (row,) = await rows(person, table)
    await person.delete(f"{TABLES}/{table['id']}/rows/{row['id']}")
    answer = await person.post(again)
    assert (answer.status, answer.json()["data"]["status"]) == (202, "processed")
    assert answer.json()["data"]["data_table_error"] is None
    assert (await person.post(again)).status == 202
    assert len(await rows(person, table)) == 1
    gone = await make_form(person, NAME, data_table_config={**config, "table_id": "tbl_gone"})
    kept = await submission(person, gone, await submit(api, gone))
    assert kept["data_table_error"] == "The data table does not exist."
    await service.runner.drain()
    async with people.context() as ctx:
        told = await ctx.system("test").all(UserNotification)
    assert sorted(one.title for one in told) == [
        "New submission, not saved to its table: Contact",
        "New submission: Contact",
        "New submission: Contact",
    ]


async def test_a_submission_starts_its_workflow_and_is_processed_when_that_ends(service, person, api) -> None:
    workflow = await make_workflow(
        person,
        node("hello", "transform", set={"greeting": "Hello {{input.data.name}}"}),
    )
    form = await make_form(person, NAME, workflow_id=workflow["id"])
    own = await person.post(f"{PATH}/{form['id']}/submit", {"data": {"name": "Ada"}})
    told = own.json()["data"]
    assert (told["status"], bool(told["workflow_execution_id"])) == ("received", True)
    kept = await submission(person, form, told["submission_id"])
    assert (kept["status"], kept["workflow_execution"]["id"]) == ("received", told["workflow_execution_id"])
    await service.runner.drain()
    kept = await submission(person, form, told["submission_id"])
    assert (kept["status"], kept["workflow_execution"]["status"]) == ("processed", "completed")
    gone = await make_form(person, NAME, workflow_id="wf_gone")
    kept = await submission(person, gone, await submit(api, gone))
    assert (kept["workflow_execution_id"], kept["workflow_execution"], kept["status"]) == (
        None,
        None,
        "received",
    )


async def test_options_come_from_a_table_and_only_they_will_do(person, api) -> None:
    table = await make_table(person, {"name": "code", "type": "text"}, {"name": "town", "type": "text"})
    for code, town in (("B", "Berlin"), ("HH", "Hamburg")):
        await person.post(f"{TABLES}/{table['id']}/rows", {"code": code, "town": town})
    source = {"type": "data_table", "table_id": table["id"], "value_column": "code", "label_column": "town"}
    gone = {**source, "table_id": "tbl_gone"}
    form = await make_form(
        person,
        {"id": "town", "type": "select", "data_source": source},
        {"id": "other", "type": "select", "data_source": gone},
    )
    where = address(form, "fields", "town", "options")
    assert {tuple(one.values()) for one in (await api.get(where)).json()["data"]} == {
        ("B", "Berlin"),
        ("HH", "Hamburg"),
    }
    assert (await api.get(where, query={"search": "burg"})).json()["data"] == [
        {"value": "HH", "label": "Hamburg"}
    ]
    assert len((await api.get(where, query={"limit": 1})).json()["data"]) == 1
    assert (await person.get(f"{PATH}/{form['id']}/fields/town/options")).status == 200
    assert (await api.get(address(form, "fields", "other", "options"))).json()["data"] == []
    assert (await send(api, form, {"town": "B", "other": "any"})).status == 201
    refused = await send(api, form, {"town": "M"})
    assert refused.details["errors"] == [{"field": "town", "message": "is not one of the options"}]

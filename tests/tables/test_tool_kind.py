"""A table as a tool: what its configuration allows, on the table it is bound to, and nothing else."""

from tests.tables.tables import BASE, Tables
from tests.tables.tool_calls import run


async def test_a_tool_queries_and_writes_what_it_may(tables: Tables) -> None:
    table = await tables.make()
    await tables.add(table, {"name": "Ada", "age": 36}, {"name": "Bob", "age": 20})
    reading = {"table_id": table["id"]}
    found = await run(tables, reading, {"filter": {"age": {"gt": 30}}})
    assert found["status"] == "completed", found
    assert [row["name"] for row in found["output"]["rows"]] == ["Ada"]
    refused = await run(tables, reading, {"operation": "insert", "values": {"name": "Eve"}})
    assert (refused["status"], refused["error"]["code"]) == ("failed", "validation_error")
    writing = {**reading, "operations": ["insert", "update", "upsert"], "match": ["name"]}
    added = await run(tables, writing, {"operation": "insert", "values": {"name": "Eve"}})
    row = added["output"]["row"]
    changed = await run(tables, writing, {"operation": "update", "row_id": row["id"], "values": {"age": 5}})
    assert changed["output"]["row"]["age"] == 5
    merged = await run(tables, writing, {"operation": "upsert", "values": {"name": "Eve", "age": 6}})
    assert (merged["output"]["action"], merged["output"]["row"]["id"]) == ("updated", row["id"])
    assert await tables.names(table) == ["Ada", "Bob", "Eve"]
    for config, given, code in (
        ({}, {}, "not_configured"),
        ({"table_id": "tbl_nobody"}, {}, "table_not_found"),
        (writing, {"operation": "drop"}, "validation_error"),
        (writing, {"operation": "insert", "values": {"age": "x"}}, "validation_error"),
        (writing, {"operation": "update", "row_id": "row_nobody"}, "row_not_found"),
    ):
        failed = await run(tables, config, given)
        assert (failed["status"], failed["error"]["code"]) == ("failed", code), failed


async def test_a_table_that_a_tool_works_on_stays(tables: Tables) -> None:
    table = await tables.make()
    body = {"name": "Rows", "category": "custom", "tool_type": "custom", "auth_type": "none"}
    bound = {"kind": "data_table", "table_id": table["id"]}
    tool = (await tables.person.post("/v1/tools", {**body, "config": bound})).json()["data"]
    unbound = {"kind": "form", "table_id": table["id"]}
    await tables.person.post("/v1/tools", {**body, "name": "Other", "config": unbound})
    refused = await tables.person.delete(f"{BASE}/{table['id']}")
    assert (refused.status, refused.code, refused.details) == (409, "table_in_use", {"tools": ["Rows"]})
    assert (await tables.person.delete(f"/v1/tools/{tool['id']}")).status == 204
    assert (await tables.person.delete(f"{BASE}/{table['id']}")).status == 204

"""Tools of the kind `data_table`, created and run."""

from typing import Any

from tests.tables.tables import Tables


async def run(tables: Tables, config: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    body = {
        "name": "Customers", "category": "custom", "tool_type": "custom", "auth_type": "none",
        "config": {"kind": "data_table", **config},
    }  # fmt: skip
    tool = await tables.person.post("/v1/tools", body)
    assert tool.status == 201, tool
    answer = await tables.person.post(f"/v1/tools/{tool.json()['data']['id']}/execute", {"input": given})
    assert answer.status == 200, answer
    return dict(answer.json()["data"])

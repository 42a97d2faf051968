"""Data tables that submissions are written to."""

TABLES = "/api/v1/data-tables"


async def make_table(person, *columns) -> dict:
    answer = await person.post(TABLES, {"name": "Leads", "columns": list(columns)})
    assert answer.status == 201, answer
    return answer.json()["data"]

"""Tests of the values that each type of column accepts and refuses, through the API."""

from typing import Any

from tests.tables.tables import BASE, Tables

EVERY_TYPE: list[dict[str, Any]] = [
    {"name": "text", "type": "text"},
    {"name": "short", "type": "text", "indexed": True},
    {"name": "number", "type": "number"},
    {"name": "integer", "type": "integer", "indexed": True},
    {"name": "boolean", "type": "boolean", "indexed": True},
    {"name": "date", "type": "date"},
    {"name": "datetime", "type": "datetime", "indexed": True},
    {"name": "select", "type": "select", "options": ["one", "two"]},
    {"name": "multi", "type": "multi_select", "options": ["one", "two"]},
    {"name": "email", "type": "email"},
    {"name": "url", "type": "url"},
    {"name": "json", "type": "json"},
    {"name": "file", "type": "file"},
]
GOOD: list[tuple[str, Any, Any]] = [
    ("text", "Grüße, 世界 😀", "Grüße, 世界 😀"),
    ("text", "", ""),
    ("text", "x" * 65_536, "x" * 65_536),
    ("text", "=CMD|'/C calc'!A0", "=CMD|'/C calc'!A0"),
    ("short", "x" * 500, "x" * 500),
    ("number", 1.5, 1.5),
    ("number", 7.0, 7),
    ("number", -0.0, 0),
    ("number", 1e300, 1e300),
    ("number", 2**60, float(2**60)),
    ("number", 5e-324, 5e-324),
    ("integer", -(2**53) + 1, -(2**53) + 1),
    ("integer", 3.0, 3),
    ("boolean", False, False),
    ("date", "2024-02-29", "2024-02-29"),
    ("datetime", "2026-11-15T09:30:00+01:00", "2026-11-15T08:30:00.000000Z"),
    ("datetime", "2026-11-15", "2026-11-15T00:00:00.000000Z"),
    ("select", "one", "one"),
    ("multi", ["two", "one", "two"], ["two", "one"]),
    ("multi", [], []),
    ("email", "ada@example.com", "ada@example.com"),
    ("url", "https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
    ("json", {"a": [1, None, True, {"b": "ü"}]}, {"a": [1, None, True, {"b": "ü"}]}),
    ("json", 0, 0),
    ("json", False, False),
    *((name, None, None) for name in ("text", "number", "json", "multi", "date")),
]
BAD: list[tuple[str, Any]] = [
    ("text", 7),
    ("text", "x" * 65_537),
    ("short", "x" * 501),
    ("number", "7"),
    ("number", True),
    ("number", [1]),
    ("integer", 1.5),
    ("integer", 2**53),
    ("integer", "1"),
    ("boolean", 1),
    ("boolean", "true"),
    ("date", "2026-02-30"),
    ("date", "2026-11-15T00:00:00Z"),
    ("date", "20261115"),
    ("date", 20261115),
    ("datetime", "yesterday"),
    ("datetime", "9999-99-99T00:00:00Z"),
    ("select", "three"),
    ("select", ["one"]),
    ("multi", "one"),
    ("multi", ["three"]),
    ("multi", [1]),
    ("email", "ada"),
    ("email", "a@b"),
    ("email", "ada@example.com\n"),
    ("url", "javascript:alert(1)"),
    ("url", "https://"),
    ("url", "https://a b"),
    ("url", "https://[::1"),
    ("url", "https://x[::1]/"),
    ("json", "x" * 70_000),
    ("file", "file_nobody"),
    ("file", "../../etc/passwd"),
]


async def test_each_type_takes_its_values_and_refuses_others(tables: Tables) -> None:
    table = await tables.make(EVERY_TYPE)
    path = f"{BASE}/{table['id']}/rows"
    wrong = []
    for name, value, shown in GOOD:
        answer = await tables.person.post(path, {name: value})
        again = (
            (await tables.person.get(f"{path}/{answer.json()['data']['id']}")).json()["data"]
            if answer.status == 201
            else {}
        )
        got = again.get(name)
        if again != (answer.json().get("data") or 0) or (got, type(got)) != (shown, type(shown)):
            wrong.append((name, value, answer, got))
    for name, value in BAD:
        answer = await tables.person.post(path, {"rows": [{}, {name: value}]})
        if answer.status != 422 or list(answer.details) != [f"rows.1.{name}"]:
            wrong.append((name, value, answer))
    assert not wrong
    assert (await tables.table(table))["row_count"] == len(GOOD)
    whole = await tables.person.post(path, {"rows": [{"text": "x" * 60_000, "json": "y" * 60_000}]})
    assert whole.status == 201
    wide = [{name: None for name, _, _ in GOOD}] * 1000
    assert (await tables.person.post(path, {"rows": wide})).status == 201
    for body in ({"rows": []}, {"rows": {}}, {"rows": [1]}, {"rows": [{}] * 1001}):
        assert (await tables.person.post(path, body)).status == 422, body

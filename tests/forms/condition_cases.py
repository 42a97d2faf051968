"""Cases of conditions, with the server's results. The script of form pages is tested against the same cases.

    python -m tests.forms.condition_cases

writes `console/packages/form/conditions.cases.json`, which conditions.test.ts reads.
"""

import json
import random
from pathlib import Path
from typing import Any

from retinue.kit.schema.fields import Fields

CASES_FILE = Path(__file__).parents[2] / "console" / "packages" / "form" / "conditions.cases.json"
SEED = 1
FORM_COUNT = 300
OPERATORS = (
    "equals", "not_equals", "contains", "not_contains", "greater_than", "less_than", "greater_or_equal",
    "less_or_equal", "in", "not_in", "is_empty", "is_not_empty",
)  # fmt: skip
VALUES = (
    None, "", "a", "A", "b", "ab", "Straße", "STRASSE", "ΟΔΟΣ", "οδος", "1", "01", "1.0",
    "1_0", "10", "-2", " 3 ",
    "1e1", ".5", "5.", "nan", "inf", "-Infinity", "0x1", "true", "False", "2026-11-15", "2026-01-02", 0, 1, 2,
    10, 1.5, -2, 1e21, True, False, [], ["a"], ["a", "b"], [1, 2], ["1"], {}, {"a": 1},
)  # fmt: skip


def make_cases(seed: int, form_count: int = FORM_COUNT) -> dict[str, Any]:
    """Return every comparison of two values, and random forms, with what is visible."""
    chance = random.Random(seed)
    forms = [_make_form(chance) for _ in range(form_count)]
    return {
        "values": VALUES,
        "comparisons": {
            operator: [_compare(actual, operator) for actual in VALUES] for operator in OPERATORS
        },
        "forms": [[conditions, values, _find_visible(conditions, values)] for conditions, values in forms],
    }


def format_cases(cases: dict[str, Any]) -> str:
    """Return the cases as JSON with a line for each form, so that a change of one is a change of a line."""
    forms = ",\n".join(json.dumps(form, ensure_ascii=False) for form in cases["forms"])
    head = {name: cases[name] for name in ("values", "comparisons")}
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "forms": [\n{forms}\n]}}\n'


def _compare(actual: object, operator: str) -> str:
    """Return a digit for each expected value: 1 if the comparison holds. A list is expected of `in`."""
    lists = operator in {"in", "not_in"}
    answers = {} if actual is None else {"f": actual}
    results = []
    for value in VALUES:
        condition = {"field": "f", "operator": operator, "value": [value] if lists else value}
        results.append("g" in _find_visible({"f": None, "g": condition}, answers))
    return "".join("01"[is_met] for is_met in results)


def _find_visible(conditions: dict[str, Any], values: dict[str, Any]) -> list[str]:
    fields = [
        {"id": id, "type": "text", **({"conditional": condition} if condition else {})}
        for id, condition in conditions.items()
    ]
    return sorted(Fields(fields).visible(values))


def _make_form(chance: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the condition of each field, and the answers."""
    ids = [f"f{number}" for number in range(chance.randint(1, 5))]
    conditions = {
        id: _make_condition(chance, [*ids, "gone"]) if chance.random() < 0.7 else None for id in ids
    }
    values = {id: chance.choice(VALUES) for id in ids}
    return conditions, {id: value for id, value in values.items() if value is not None}


def _make_condition(chance: random.Random, ids: list[str], depth: int = 0) -> dict[str, Any]:
    if depth < 2 and chance.random() < 0.2:
        inner = [_make_condition(chance, ids, depth + 1) for _ in range(chance.randint(1, 3))]
        return {chance.choice(("all", "any")): inner}
    operator = chance.choice(OPERATORS)
    value: object = chance.choice(VALUES)
    if operator in {"in", "not_in"}:
        value = [chance.choice(VALUES) for _ in range(chance.randint(0, 3))]
    return {"field": chance.choice(ids), "operator": operator, "value": value}


if __name__ == "__main__":
    CASES_FILE.write_text(format_cases(make_cases(SEED)), encoding="utf-8")

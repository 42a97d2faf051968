"""Twenty types of fields: what each lets through, what it keeps, and what it refuses."""

import time
from typing import Any

import pytest

from retinue.kit.errors import Invalid
from retinue.kit.schema.fields import Fields, FieldType, allowed_extensions, read_fields
from tests.unit.form_field_cases import AB, CASES

SAME: Any = object()


def one(type: str, rules: dict[str, Any], **more: Any) -> Fields:
    return Fields(read_fields([{"id": "f", "type": type, "validation": rules, **more}]))


def test_every_type_keeps_what_is_good_and_says_what_is_not() -> None:
    assert {case[0] for case in CASES} | {"section", "paragraph"} == {*FieldType}
    wrong = []
    for type, rules, good, bad in CASES:
        fields = one(type, rules)
        for case in good:
            given, kept = case if isinstance(case, tuple) else (case, case)
            checked = fields.check({"f": given})
            if checked.errors or checked.values.get("f") != kept:
                wrong.append((type, rules, given, checked))
        for given in bad:
            checked = fields.check({"f": given})
            if [error.field for error in checked.errors] != ["f"]:
                wrong.append((type, rules, given, checked))
    assert wrong == []


def test_what_is_required_is_missed_and_what_is_not_is_not() -> None:
    wrong = []
    for type in FieldType:
        more = {"options": AB} if type in {"select", "radio", "multi_select", "checkbox_group"} else {}
        for given in (None, "", [], {}):
            optional = one(type, {}, **more).check({"f": given})
            required = one(type, {}, required=True, **more).check({"f": given} if given is not None else {})
            said = [] if type in {"section", "paragraph"} else ["is required"]
            if optional.errors or optional.values or [error.message for error in required.errors] != said:
                wrong.append((type, given, optional, required))
    assert wrong == []
    assert one("text", {}, required=True).check({"f": "  "}).errors
    assert one("checkbox", {}, required=True).check({"f": False}).errors
    assert not one("number", {}, required=True).check({"f": 0}).errors


BAD_RULES: list[tuple[str, dict[str, Any], str]] = [
    ("text", {"min_length": -1}, "min_length"),
    ("text", {"max_length": "5"}, "max_length"),
    ("text", {"min_length": 5, "max_length": 4}, "max_length"),
    ("text", {"pattern": "("}, "pattern"),
    ("text", {"pattern": "(?=a)b"}, "pattern"),
    ("text", {"pattern": r"(a)\1"}, "pattern"),
    ("text", {"pattern": "x" * 513}, "pattern"),
    ("text", {"pattern": "(a{1,1000}){1,1000}"}, "pattern"),
    ("phone", {"pattern": 7}, "pattern"),
    ("number", {"min": "1"}, "min"),
    ("number", {"min": 5, "max": 1}, "max"),
    ("slider", {"step": 0}, "step"),
    ("rating", {"max": 0}, "max"),
    ("rating", {"max": 2.5}, "max"),
    ("multi_select", {"options": AB, "min_selections": 3, "max_selections": 1}, "max_selections"),
    ("date", {"min_date": "yesterday"}, "min_date"),
    ("date", {"min_date": "2026-01-02", "max_date": "2026-01-01"}, "max_date"),
    ("datetime", {"max_date": 7}, "max_date"),
    ("file", {"max_size_mb": 101}, "max_size_mb"),
    ("file", {"max_size_mb": 0}, "max_size_mb"),
    ("file", {"allowed_types": {"a": 1}}, "allowed_types"),
    ("select", {"options": [{}]}, "options.0"),
]


def test_rules_that_make_no_sense_are_refused_when_they_are_written() -> None:
    wrong = []
    for type, rules, name in BAD_RULES:
        with pytest.raises(Invalid) as refused:
            one(type, rules)
        if set(refused.value.details or {}) != {f"fields.0.validation.{name}"}:
            wrong.append((type, rules, refused.value.details))
    assert wrong == []
    # What means nothing for a type is nobody's business, and null is as good as nothing.
    assert one("email", {"pattern": "("}).check({"f": "a@b.de"}).values == {"f": "a@b.de"}
    assert one("text", {"min_length": None}).check({"f": "a"}).values == {"f": "a"}


def test_a_hidden_field_is_not_required_and_its_value_is_dropped() -> None:
    def when(field: str, operator: str, value: Any = None) -> dict[str, Any]:
        return {"field": field, "operator": operator, "value": value}

    fields = Fields(
        read_fields(
            [
                {"id": "pet", "type": "checkbox"},
                {"id": "kind", "type": "text", "required": True, "conditional": when("pet", "equals", True)},
                {
                    "id": "breed",
                    "type": "text",
                    "required": True,
                    "conditional": when("kind", "equals", "dog"),
                },
                {"id": "age", "type": "number"},
                {
                    "id": "adult",
                    "type": "text",
                    "required": True,
                    "conditional": when("age", "greater_or_equal", 18),
                },
                {
                    "id": "both",
                    "type": "text",
                    "conditional": {
                        "all": [
                            when("pet", "equals", "true"),
                            {"any": [when("age", "less_than", 5), when("age", "greater_than", 90)]},
                        ]
                    },
                },
                {"id": "weird name.x", "type": "text"},
                {
                    "id": "after",
                    "type": "text",
                    "required": True,
                    "conditional": when("weird name.x", "is_not_empty"),
                },
            ]
        )
    )
    cases = [
        ({}, {}, []),
        ({"pet": False, "kind": "dog", "breed": "pug"}, {"pet": False}, []),
        ({"pet": True}, {"pet": True}, ["kind"]),
        ({"pet": True, "kind": "dog"}, {"pet": True, "kind": "dog"}, ["breed"]),
        ({"pet": True, "kind": "cat", "breed": 7}, {"pet": True, "kind": "cat"}, []),
        ({"kind": "dog", "breed": "pug"}, {}, []),
        ({"age": 20}, {"age": 20}, ["adult"]),
        ({"age": "17"}, {"age": 17}, []),
        ({"age": 3, "both": "x"}, {"age": 3}, []),
        (
            {"age": 3, "pet": "on", "kind": "a", "both": "x"},
            {"age": 3, "pet": True, "kind": "a", "both": "x"},
            [],
        ),
        ({"weird name.x": "1"}, {"weird name.x": "1"}, ["after"]),
        ({"unknown": 1, "id": "x", "__proto__": {}}, {}, []),
    ]
    wrong = []
    for data, kept, missed in cases:
        checked = fields.check(data)
        if checked.values != kept or [error.field for error in checked.errors] != missed:
            wrong.append((data, checked))
    assert wrong == []


def test_true_is_no_number_to_a_condition() -> None:
    condition = {"field": "n", "operator": "contains", "value": True}
    fields = Fields(
        read_fields([{"id": "n", "type": "text"}, {"id": "f", "type": "text", "conditional": condition}])
    )
    assert [fields.visible({"n": found}) == {"n", "f"} for found in ([1], [True], [1.0, "true"])] == [
        False,
        True,
        False,
    ]


def test_conditions_in_a_circle_come_to_an_end() -> None:
    circle = [
        {"id": id, "type": "text", "conditional": {"field": other, "operator": operator}}
        for id, other, operator in (("a", "b", "is_empty"), ("b", "a", "is_not_empty"))
    ]
    assert Fields(read_fields(circle)).check({"a": "1", "b": "2"}).errors == []


def test_a_hostile_pattern_takes_no_longer_than_its_text() -> None:
    fields = one("text", {"pattern": "^(a+)+$"})
    begun = time.process_time()
    assert fields.check({"f": "a" * 9_999 + "!"}).errors
    assert time.process_time() - begun < 0.2


def test_every_failing_field_is_said_at_once_in_the_order_of_the_form() -> None:
    fields = Fields(read_fields([{"id": f"n{n}", "type": "number", "required": True} for n in range(5)]))
    assert [error.field for error in fields.check({"n1": "x", "n3": 3}).errors] == ["n0", "n1", "n2", "n4"]


@pytest.mark.parametrize(
    ("written", "taken", "refused"),
    [
        (["pdf", ".TXT", "*.csv"], {"pdf", "txt", "csv"}, {"png"}),
        (["application/pdf"], {"pdf"}, {"txt", "png"}),
        (["image/*"], {"png", "jpg", "jpeg"}, {"pdf", "html"}),
        (["image/png", "docx"], {"png", "docx"}, {"jpg"}),
        (["application/x-nobody-knows"], set(), {"pdf", "bin"}),
        ("pdf, image/jpeg", {"pdf", "jpg"}, {"png"}),
    ],
)
def test_a_file_field_takes_endings_and_types(written, taken, refused):
    allowed = allowed_extensions({"id": "f", "type": "file", "validation": {"allowed_types": written}})
    assert allowed is not None
    assert taken <= allowed
    assert not refused & allowed

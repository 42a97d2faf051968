"""Answers in people's words, for each type of field; pure, and decided by the validator in the end."""

import time
from datetime import date

import pytest

from retinue.forms.conversation.grounding_check import VisitorText
from retinue.forms.conversation.parser import MessageParser, VisitorMessage
from retinue.forms.conversation.state import ConversationState
from retinue.forms.conversation.value_parser import ParseInput, parse_value
from retinue.kit.schema.fields import Fields, FieldType, options_of, read_fields
from retinue.kit.schema.fields.values import InvalidAnswer

TODAY = date(2026, 11, 15)
COLOURS = {"options": ["red", {"value": 2, "label": "Light blue"}, {"value": "b", "label": "Blue"}, "a, b"]}
REFUSED = object()

READ = [
    ("text", {}, "  Ada  ", "Ada"),
    ("textarea", {}, "two\nlines", "two\nlines"),
    ("email", {}, "ada@example.com", "ada@example.com"),
    ("email", {}, "It is <ada@example.com>.", "ada@example.com"),
    ("email", {}, "a@b.de or c@d.de", REFUSED),
    ("email", {}, "ada at example", REFUSED),
    ("url", {}, "see https://example.com/x?y=1, ok", "https://example.com/x?y=1"),
    ("url", {}, "example.com", REFUSED),
    ("phone", {}, "call me at +49 30 1234-56", "+49 30 1234-56"),
    ("phone", {"validation": {"pattern": r"\+\d{4,}"}}, "+4930", "+4930"),
    ("number", {}, "36", 36),
    ("number", {}, "I am 36 years old", 36),
    ("number", {}, "about three", 3),
    ("number", {}, "1,200", 1200),
    ("number", {}, "3,5", 3.5),
    ("number", {}, "it was 1.200,50 in all", 1200.5),
    ("number", {}, "1,200.50", 1200.5),
    ("number", {}, "-4", -4),
    ("number", {}, "\N{MINUS SIGN}4", -4),
    ("number", {}, "between 3 and 5", REFUSED),
    ("number", {}, "many", REFUSED),
    ("number", {"validation": {"max": 10}}, "11", REFUSED),
    ("slider", {"validation": {"step": 5}}, "15 %", 15),
    ("rating", {}, "4/5", 4),
    ("rating", {}, "4 out of 5", 4),
    ("rating", {}, "★★★", 3),
    ("rating", {}, "five stars", 5),
    ("rating", {}, "six", REFUSED),
    ("select", COLOURS, "red", "red"),
    ("select", COLOURS, "LIGHT BLUE!", 2),
    ("select", COLOURS, "2", 2),
    ("select", COLOURS, "option 3", "b"),
    ("select", COLOURS, "the light blue one", 2),
    ("select", COLOURS, "blue please", "b"),
    ("select", COLOURS, "red or blue", REFUSED),
    ("select", COLOURS, "lig", 2),
    ("select", COLOURS, "green", REFUSED),
    ("select", COLOURS, "99", REFUSED),
    ("radio", COLOURS, "a, b", "a, b"),
    ("multi_select", COLOURS, "red, blue", ["red", "b"]),
    ("multi_select", COLOURS, "red and light blue", ["red", 2]),
    ("multi_select", COLOURS, "1 and 3", ["red", "b"]),
    ("multi_select", COLOURS, "all", ["red", 2, "b", "a, b"]),
    ("multi_select", COLOURS, '["red", "b"]', ["red", "b"]),
    ("multi_select", COLOURS, '["green"]', REFUSED),
    ("multi_select", COLOURS, "a, b", ["a, b"]),
    ("checkbox_group", COLOURS, "I like red very much", ["red"]),
    ("checkbox_group", COLOURS, "green", REFUSED),
    ("checkbox", {}, "yes, of course", True),
    ("checkbox", {}, "Nein", False),
    ("checkbox", {}, "no", False),
    ("checkbox", {}, "not sure", None),
    ("checkbox", {}, "why?", None),
    ("date", {}, "2026-11-20", "2026-11-20"),
    ("date", {}, "on 20.11.2026", "2026-11-20"),
    ("date", {}, "25/11/2026", "2026-11-25"),
    ("date", {}, "11/25/2026", "2026-11-25"),
    ("date", {}, "03/04/2026", REFUSED),
    ("date", {}, "November 20th, 2026", "2026-11-20"),
    ("date", {}, "the 20th of November 2026", "2026-11-20"),
    ("date", {}, "20. März 2027", "2027-03-20"),
    ("date", {}, "tomorrow", "2026-11-16"),
    ("date", {}, "30.02.2026", REFUSED),
    ("date", {}, "today or tomorrow", REFUSED),
    ("date", {"validation": {"max_date": "2026-11-15"}}, "tomorrow", REFUSED),
    ("datetime", {}, "2026-11-20T08:30", "2026-11-20T08:30"),
    ("datetime", {}, "tomorrow at 3pm", "2026-11-16T15:00:00"),
    ("datetime", {}, "20.11.2026 14:05", "2026-11-20T14:05:00"),
    ("datetime", {}, "tomorrow at 25:00", REFUSED),
    ("datetime", {}, "tomorrow", REFUSED),
    ("file", {}, "file_" + "a" * 26, None),
    ("signature", {}, "Ada Lovelace", "Ada Lovelace"),
    ("hidden", {}, "x", None),
    ("section", {}, "x", REFUSED),
    ("paragraph", {}, "x", REFUSED),
]


def field_of(type: str, more: dict):
    return Fields(read_fields([{"id": "f", "type": type, **more}])).all[0]


@pytest.mark.parametrize(("type", "more", "text", "expected"), READ)
def test_an_answer_is_read_as_it_is_meant(type, more, text, expected) -> None:
    field = field_of(type, more)
    found = parse_value(field, ParseInput(text, options_of(field.definition), TODAY))
    if expected is None:
        assert found is None
        return
    assert found is not None
    if expected is REFUSED:
        if type in {"section", "paragraph"}:
            assert field.read(found.value) is None
            return
        with pytest.raises(InvalidAnswer):
            field.read(found.value)
        return
    kept = field.read(found.value)
    assert (kept, builtin_type(kept)) == (expected, builtin_type(expected))


builtin_type = type


def test_every_type_of_field_was_talked_about() -> None:
    assert {type for type, *_ in READ} == {*FieldType}


async def nothing_to_choose(_field) -> list:
    return []


def listener(*fields: dict, asked: str | None, is_confirming: bool = False, **answers) -> MessageParser:
    state = ConversationState(
        Fields(read_fields(list(fields))), answers=answers, asked=asked, is_confirming=is_confirming
    )
    return MessageParser(state, nothing_to_choose, TODAY)


NAME = {"id": "full_name", "type": "text", "label": "Your name?"}
AGE = {"id": "age", "type": "number", "label": "Age", "required": True}

COMMANDS = [
    ("skip", {"skips": ["full_name"]}),
    ("Skip it!", {"skips": ["full_name"]}),
    ("go back", {"goes_back": True}),
    ("change your name to Bob", {"answers": {"full_name": "Bob"}}),
    ("no, sorry, my age is 7", {"answers": {"age": "7"}}),
    ("set full name = Bob Smith", {"answers": {"full_name": "Bob Smith"}}),
    ("Correct age", {"reopened": "age"}),
    ("my agent is 7", {"answers": {"full_name": "my agent is 7"}}),
    ("Age: 7; your name: Bob", {"answers": {"age": "7", "full_name": "Bob"}}),
    ("Age: 7; colour: red", {"answers": {"full_name": "Age: 7; colour: red"}}),
    ("change", {"answers": {"full_name": "change"}}),
    ("change the world", {"answers": {"full_name": "change the world"}}),
    ("https://a.b: x", {"answers": {"full_name": "https://a.b: x"}}),
]


@pytest.mark.parametrize(("text", "expected"), COMMANDS)
async def test_commands_and_labels_are_understood(text, expected) -> None:
    found = await listener(NAME, AGE, asked="full_name").parse_message(VisitorMessage(content=text))
    for name in ("answers", "skips", "goes_back", "reopened"):
        assert getattr(found, name) == expected.get(name, getattr(type(found)(), name)), name


async def test_what_must_be_answered_may_be_answered_with_none() -> None:
    required = {**NAME, "required": True}
    found = await listener(required, asked="full_name").parse_message(VisitorMessage(content="None"))
    assert (found.answers, found.skips) == ({"full_name": "None"}, [])
    found = await listener(required, asked="full_name").parse_message(VisitorMessage(content="skip"))
    assert found.skips == ["full_name"]


GROUNDED = [
    ("text", "Ada", True),
    ("text", "ada lovelace", True),
    ("text", "Ada Byron", False),
    ("text", "", False),
    ("text", 7, False),
    ("email", "ADA@example.com", True),
    ("email", "eve@example.com", False),
    ("phone", "+49 30-12", True),
    ("phone", "+49 99", False),
    ("number", 36, True),
    ("number", 2.0, True),
    ("number", 99, False),
    ("date", "2026-12-24", True),
    ("select", "b", True),
    ("select", "red", False),
    ("multi_select", ["b", "red"], False),
    ("checkbox", True, False),
    ("file", "file_" + "a" * 26, False),
    ("hidden", "Ada", False),
]


@pytest.mark.parametrize(("type", "value", "is_grounded"), GROUNDED)
def test_a_model_cannot_put_words_into_a_visitors_mouth(type, value, is_grounded) -> None:
    field = field_of(type, COLOURS if "select" in type else {})
    options = options_of(field.definition)
    said = ["I am Ada, 36, with two cats. Blue!", "ada@example.com, +4930 12, Lovelace, 24 December"]
    assert VisitorText(said, None).has(field, value, options) is is_grounded
    if type in {"number", "select", "checkbox", "date"}:
        assert VisitorText(said, "f").has(field, value, options), "how to understand an answer is the model's"


async def long_choice(field) -> list:
    return options_of(field.definition)


@pytest.mark.parametrize("filling", [" ", "1", "a", "a@", "1.", ": ", "red ", "\n", "2026-"])
async def test_a_long_text_keeps_nobody_busy(filling) -> None:
    """A parser of quadratic time would take minutes for this text."""
    text = "x: " + filling * (300_000 // len(filling)) + "x"
    started = time.process_time()
    for type in ("text", "email", "url", "phone", "number", "rating", "select", "multi_select", "datetime"):
        fields = Fields(read_fields([{"id": "f", "type": type, **(COLOURS if "select" in type else {})}]))
        state = ConversationState(fields, answers={}, asked="f")
        for field_id in (None, "f"):
            await MessageParser(state, long_choice, TODAY).parse_message(
                VisitorMessage(content=text, field_id=field_id)
            )
    short = text[:1000]
    for type in ("email", "url", "phone", "number", "rating", "select", "multi_select", "date", "datetime"):
        field = field_of(type, COLOURS if "select" in type else {})
        parse_value(field, ParseInput(short, options_of(field.definition), TODAY))
    assert time.process_time() - started < 2

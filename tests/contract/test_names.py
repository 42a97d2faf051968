"""Names that a newcomer understands: the rules of CONTRIBUTING.md that a program can check."""

import ast

import pytest

from tests.contract import naming

MAX_ANY_PER_THOUSAND_LINES = 10.5
"""Only ever lowered."""


MAX_RIDDLE_DOCSTRINGS = 0
"""Only ever lowered."""

MAX_RIDDLE_TEST_DOCSTRINGS = 0
"""Only ever lowered."""

PLACES_OF_DOCSTRINGS = {
    "module": '"""{}"""',
    "constant": 'MAX_STEPS = 1\n"""{}"""',
    "function": 'async def read():\n    """{}"""',
    "field": 'class Page:\n    size: int\n    """{}"""',
}


def test_modules_are_named_by_nouns():
    assert naming.participle_modules() == naming.PARTICIPLE_MODULES
    assert len(naming.PARTICIPLE_MODULES) <= 20


def test_files_of_tests_are_named_by_what_they_test():
    assert naming.participle_tests() == naming.PARTICIPLE_TESTS


def test_a_public_class_name_occurs_once():
    assert {name: found for name, found in naming.classes_by_name().items() if len(found) > 1} == {}


def test_a_maximum_is_called_max():
    assert [found for found in naming.constants() if naming.MAXIMUM.match(found[1])] == []


def test_modules_import_each_other_in_no_circle():
    assert naming.circles() == []


def test_a_circle_is_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}
    groups = [group for group in naming._strongly_connected(graph) if len(group) > 1]
    assert groups == [{"a", "b", "c"}]


def test_a_module_of_a_few_lines_has_two_users():
    assert naming.short_modules() == set()


def test_a_docstring_begins_with_its_subject():
    found = naming.riddle_docstrings()
    assert len(found) <= MAX_RIDDLE_DOCSTRINGS, found


def test_a_docstring_of_a_test_begins_with_its_subject():
    found = naming.riddle_test_docstrings()
    assert len(found) <= MAX_RIDDLE_TEST_DOCSTRINGS, found


@pytest.mark.parametrize(
    "docstring",
    [
        "What the server says.",
        "Of one screen.",
        "As the schedule does.",
        "Waits for so many seconds.",
        "A row that whoever comes first takes.",
    ],
)
def test_a_riddle_of_a_test_is_found(docstring):
    planted = {place: ast.parse(text.format(docstring)) for place, text in PLACES_OF_DOCSTRINGS.items()}
    assert naming.riddle_test_docstrings(planted) == [(place, docstring) for place in planted]


def test_a_plain_docstring_of_a_test_is_no_riddle():
    planted = {"module": ast.parse('"""Return the row; whether it is new is not told."""')}
    assert naming.riddle_test_docstrings(planted) == []


def test_a_log_event_is_a_name_and_its_facts_are_fields():
    events = list(naming.log_events())
    assert len(events) > 100
    assert [found for found in events if not naming.LOG_EVENT.fullmatch(found[1])] == []


def test_types_are_said():
    assert naming.any_per_thousand_lines() <= MAX_ANY_PER_THOUSAND_LINES

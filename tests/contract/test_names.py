"""Names that a newcomer understands: the rules of CONTRIBUTING.md that a program can check."""

from tests.contract import naming

MAX_ANY_PER_THOUSAND_LINES = 10.5
"""Only ever lowered."""


def test_modules_are_named_by_nouns():
    assert naming.participle_modules() == naming.PARTICIPLE_MODULES
    assert len(naming.PARTICIPLE_MODULES) <= 20


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


def test_types_are_said():
    assert naming.any_per_thousand_lines() <= MAX_ANY_PER_THOUSAND_LINES

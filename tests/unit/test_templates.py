from typing import Any

import pytest

from retinue.kit.text.templates import TemplateTooLarge, render

SCOPE: dict[str, Any] = {
    "data": {
        "name": "Ada",
        "count": 3,
        "ratio": 0.5,
        "is_new": True,
        "nothing": None,
        "items": [{"id": "a"}, {"id": "b"}],
        "data": {"email": "ada@example.com"},
        "x-y": "dashed",
        "injected": "{{data.name}}",
        "0": "zero",
    }
}


@pytest.mark.parametrize(
    ("template", "rendered"),
    [
        ("plain", "plain"),
        ("{{data.name}}", "Ada"),
        ("{{ data.name }}", "Ada"),
        ("Hello {{data.name}}!", "Hello Ada!"),
        ("{{data.count}}", 3),
        ("{{data.ratio}}", 0.5),
        ("{{data.is_new}}", True),
        ("{{data.nothing}}", None),
        ("{{data.items}}", [{"id": "a"}, {"id": "b"}]),
        ("{{data.items[1].id}}", "b"),
        ("{{data.items.0.id}}", "a"),
        ("{{data.items[2].id}}", None),
        ("{{data.data.email}}", "ada@example.com"),
        ("{{data.x-y}}", "dashed"),
        ("{{data.0}}", "zero"),
        ("n={{data.count}}, {{data.is_new}}, {{data.nothing}}.", "n=3, true, ."),
        ("{{data.items[0]}} ", '{"id":"a"} '),
        ("{{data.missing.deeper}}", None),
        ("{{data.name.length}}", None),
        # What was looked up is not looked up again.
        ("{{data.injected}}", "{{data.name}}"),
        ("<{{data.injected}}>", "<{{data.name}}>"),
        # No code, no filters, no attributes: what is no path stays as it is.
        ("{{data.name|upper}}", "{{data.name|upper}}"),
        ("{{1+1}}", "{{1+1}}"),
        ("{{data.__class__}}", None),
        ("{{data['name']}}", "{{data['name']}}"),
        ("{{}} {{", "{{}} {{"),
        ({"a": ["{{data.count}}", {"b": "{{data.name}}"}], "c": 7}, {"a": [3, {"b": "Ada"}], "c": 7}),
    ],
)
def test_paths_are_looked_up_and_nothing_else(template: Any, rendered: Any) -> None:
    assert render(template, SCOPE) == rendered


def test_a_small_template_cannot_become_a_huge_text() -> None:
    scope = {"data": {"long": "x" * 100_000, "list": ["y" * 1_000] * 100}}
    for template in ("{{data.long}} " * 20, ["{{data.list}}"] * 20):
        with pytest.raises(TemplateTooLarge):
            render(template, scope)


def test_a_template_that_is_nested_too_deep_is_refused() -> None:
    nested: Any = "x"
    for _ in range(40):
        nested = [nested]
    with pytest.raises(TemplateTooLarge):
        render(nested, {})

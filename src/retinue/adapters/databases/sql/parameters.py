"""Binding of parameters: `:name` with an object, or `?`, `%s` or `$1` with a list."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from retinue.adapters.databases.errors import QueryNotAllowed

MAX_PARAMETERS = 1_000

_DOLLAR = re.compile(r"\$[0-9]{1,4}", re.ASCII)

PlaceholderNodes = Sequence[tuple[exp.Expr, str]]


def bind_parameters(statement: exp.Expr, params: object) -> tuple[Any, ...]:
    """Number the statement's parameters in place and return their values in that order."""
    nodes = list(statement.walk())
    numbered = [(node, node.name.removeprefix("$")) for node in nodes if _is_numbered(node)]
    others = [(node, node.name) for node in nodes if isinstance(node, exp.Placeholder)]
    marked = sorted((item for item in others if item[1].startswith("?")), key=lambda item: int(item[1][1:]))
    named = [item for item in others if not item[1].startswith("?")]
    if sum(map(bool, (numbered, marked, named))) > 1:
        raise QueryNotAllowed("The statement mixes different kinds of parameters.")
    if len(numbered) + len(others) > MAX_PARAMETERS:
        raise QueryNotAllowed(f"The statement has more than {MAX_PARAMETERS} parameters.")
    if named:
        return _bind_names(named, params)
    if numbered:
        return _bind_positions([(node, int(number) - 1) for node, number in numbered], params)
    return _bind_positions([(node, index) for index, (node, _) in enumerate(marked)], params)


def _is_numbered(node: exp.Expr) -> bool:
    """Return whether a node is `$1`; only PostgreSQL's parser knows it, the others see a column."""
    if isinstance(node, exp.Parameter):
        return isinstance(node.this, exp.Literal) and not node.this.is_string
    return (
        isinstance(node, exp.Column)
        and not node.this.args.get("quoted")
        and bool(_DOLLAR.fullmatch(node.sql()))
    )


def _bind_names(placeholders: PlaceholderNodes, params: object) -> tuple[Any, ...]:
    if not isinstance(params, Mapping):
        raise QueryNotAllowed("The statement has named parameters, so params must be an object.")
    names = list(dict.fromkeys(name for _, name in placeholders))
    missing = [name for name in names if name not in params]
    if missing:
        raise QueryNotAllowed(f"The parameter :{missing[0][:60]} has no value in params.")
    if len(params) != len(names):
        raise QueryNotAllowed("The params contain values that the statement does not use.")
    for node, name in placeholders:
        node.replace(exp.Placeholder(this=str(names.index(name))))
    return tuple(params[name] for name in names)


def _bind_positions(placeholders: list[tuple[exp.Expr, int]], params: object) -> tuple[Any, ...]:
    values = [] if params is None or params == {} else params
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise QueryNotAllowed("The statement has unnamed parameters, so params must be a list.")
    if {index for _, index in placeholders} != set(range(len(values))):
        raise QueryNotAllowed("The number of params does not match the statement's parameters.")
    for node, index in placeholders:
        node.replace(exp.Placeholder(this=str(index)))
    return tuple(values)

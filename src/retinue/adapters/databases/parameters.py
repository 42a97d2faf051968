"""The parameters of a statement and their values: `:name` with an object, `?`, `%s` or `$1` with a list."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from retinue.adapters.databases.errors import QueryNotAllowed

MAX_PARAMETERS = 1_000

_DOLLAR = re.compile(r"\$[0-9]{1,4}", re.ASCII)

Found = Sequence[tuple[exp.Expr, str]]


def bind(statement: exp.Expr, params: Any) -> tuple[Any, ...]:
    """Number the statement's parameters in place and give their values in the order of these numbers."""
    nodes = list(statement.walk())
    numbered = [(node, node.name.removeprefix("$")) for node in nodes if _is_numbered(node)]
    others = [(node, node.name) for node in nodes if isinstance(node, exp.Placeholder)]
    marked = sorted(
        (found for found in others if found[1].startswith("?")), key=lambda found: int(found[1][1:])
    )
    named = [found for found in others if not found[1].startswith("?")]
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
    """`$1`, which only PostgreSQL's parser knows; the others take it for a column."""
    if isinstance(node, exp.Parameter):
        return isinstance(node.this, exp.Literal) and not node.this.is_string
    return (
        isinstance(node, exp.Column)
        and not node.this.args.get("quoted")
        and bool(_DOLLAR.fullmatch(node.sql()))
    )


def _bind_names(found: Found, params: Any) -> tuple[Any, ...]:
    if not isinstance(params, Mapping):
        raise QueryNotAllowed("The statement has named parameters, so params must be an object.")
    names = list(dict.fromkeys(name for _, name in found))
    missing = [name for name in names if name not in params]
    if missing:
        raise QueryNotAllowed(f"There is no value for the parameter :{missing[0][:60]}.")
    if len(params) != len(names):
        raise QueryNotAllowed("There are params that the statement does not use.")
    for node, name in found:
        node.replace(exp.Placeholder(this=str(names.index(name))))
    return tuple(params[name] for name in names)


def _bind_positions(found: list[tuple[exp.Expr, int]], params: Any) -> tuple[Any, ...]:
    given = [] if params is None or params == {} else params
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise QueryNotAllowed("The statement's parameters have no names, so params must be a list.")
    if {index for _, index in found} != set(range(len(given))):
        raise QueryNotAllowed("The number of params is not the number of the statement's parameters.")
    for node, index in found:
        node.replace(exp.Placeholder(this=str(index)))
    return tuple(given)

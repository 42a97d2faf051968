"""Every migration says whether servers of the version before survive it, and does not say so wrongly."""

import ast
from collections.abc import Iterator

import pytest

from retinue.migrations.upgrade import first, head, migration_files, read_safety_mark, unsafe_after

_REMOVALS = {"drop_table", "drop_column", "rename_table", "drop_constraint"}
_TIGHTENINGS = {"new_column_name", "type_"}


def unsafe_calls(source: str) -> Iterator[str]:
    """Yield what the code of the version before cannot be expected to survive, from `upgrade` alone."""
    for function in ast.parse(source).body:
        if not isinstance(function, ast.FunctionDef) or function.name == "downgrade":
            continue
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                yield from _reasons(call, call.func.attr)


def _reasons(call: ast.Call, name: str) -> Iterator[str]:
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    is_required = isinstance(value := named.get("nullable"), ast.Constant) and value.value is False
    if name in _REMOVALS:
        yield name
    elif name == "alter_column":
        if is_required or _TIGHTENINGS & named.keys():
            yield "alter_column"
    elif name == "add_column":
        columns = [argument for argument in call.args if isinstance(argument, ast.Call)]
        for column in columns:
            settings = {keyword.arg: keyword.value for keyword in column.keywords}
            nullable = settings.get("nullable")
            is_required = isinstance(nullable, ast.Constant) and nullable.value is False
            if is_required and "server_default" not in settings:
                yield "add_column of a required column without a default"
    elif name in {"create_unique_constraint", "create_check_constraint"}:
        yield name


@pytest.mark.parametrize("number", migration_files())
def test_a_migration_says_whether_servers_may_go_on(number: str) -> None:
    source = migration_files()[number].read_text()
    mark = read_safety_mark(source)
    assert mark is not None, (
        f"migration {number} must say `is_safe_beside_previous = True` or `False` below `depends_on`: "
        "whether servers of the version before go on working beside its schema"
    )
    if mark:
        assert list(unsafe_calls(source)) == [], f"migration {number} is not safe beside the version before"


@pytest.mark.parametrize(
    "line",
    [
        'op.drop_table("agents")',
        'op.drop_column("agents", "name")',
        'op.rename_table("agents", "bots")',
        'op.alter_column("agents", "name", new_column_name="title")',
        'op.alter_column("agents", "name", nullable=False)',
        'op.add_column("agents", sa.Column("title", sa.Text(), nullable=False))',
        'op.create_unique_constraint("uq", "agents", ["name"])',
    ],
)
def test_an_unsafe_line_is_found(line: str) -> None:
    assert list(unsafe_calls(f"def upgrade():\n    {line}\n"))
    assert not list(unsafe_calls(f"def downgrade():\n    {line}\n"))


@pytest.mark.parametrize(
    "line",
    [
        'op.create_table("boxes", sa.Column("id", sa.Text(), nullable=False))',
        'op.add_column("agents", sa.Column("title", sa.Text(), nullable=True))',
        'op.add_column("agents", sa.Column("rank", sa.Integer(), server_default="0", nullable=False))',
        'op.create_index("ix", "agents", ["name"], unique=False)',
        'op.drop_index("ix", "agents")',
        'op.alter_column("agents", "name", nullable=True)',
    ],
)
def test_a_line_that_adds_is_safe(line: str) -> None:
    assert not list(unsafe_calls(f"def upgrade():\n    {line}\n"))


def test_what_says_nothing_is_not_safe() -> None:
    assert read_safety_mark("revision = '1'\n") is None
    assert read_safety_mark("is_safe_beside_previous = False\n") is False
    assert read_safety_mark("is_safe_beside_previous = True\n") is True
    assert first() in unsafe_after("0000")
    assert unsafe_after(head()) == []

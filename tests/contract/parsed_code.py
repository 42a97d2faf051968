"""Python as its syntax tree, which is made once for all the rules that read a text."""

import ast
import gc
from collections.abc import Iterator
from functools import cache


@cache
def parse(text: str) -> ast.Module:
    tree = ast.parse(text)
    # The collector would walk through millions of nodes again and again, and pytest calls it when it ends.
    gc.freeze()
    return tree


def walk_statements(tree: ast.Module) -> Iterator[ast.Module | ast.stmt]:
    """Return the module and all statements in it, which are a small part of its nodes."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Module, ast.stmt)):
            yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(node, name, ()))

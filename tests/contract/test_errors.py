"""Tests of error codes: responses carry those that are declared, and records those documented."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import retinue
from retinue.chat.engine.call_outcomes import CALL_CODES
from retinue.kit.errors import InternalError
from retinue.tools.errors import EXECUTION_CODES
from retinue.workflows.errors import NODE_CODES
from tests.contract.routes import ROUTES, label

SOURCE = Path(retinue.__file__).parent
REFERENCE = SOURCE.parent.parent / "docs" / "reference" / "errors.md"


def test_no_route_declares_an_error_that_no_response_carries() -> None:
    declared = {
        f"{label(route)}: {error.__name__}"
        for route in ROUTES
        for error in (*route.errors, *(loader.missing for _, _, loader in route.loaders if loader))
        if issubclass(error, InternalError)
    }
    assert declared == set()


@pytest.mark.parametrize(
    ("failure", "codes"),
    [("ExecutionFailed", EXECUTION_CODES), ("NodeFailed", NODE_CODES), ("CallRefused", CALL_CODES)],
)
def test_every_code_that_a_record_shows_is_documented(failure, codes) -> None:
    raised = {code for path in SOURCE.rglob("*.py") for code in literal_codes(path, failure)}
    assert raised
    assert raised - codes.keys() == set()


def literal_codes(path: Path, failure: str) -> Iterator[str]:
    """Yield the codes with which a module makes this failure, where they are written out."""
    text = path.read_text()
    if failure not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == failure:
            code = node.args[0]
            if isinstance(code, ast.Constant):
                yield code.value


def test_the_page_lists_responses_and_records_apart() -> None:
    responses, records = REFERENCE.read_text().split("\n## Codes in records\n")
    assert "`model_error`" in responses
    for code in ("lease_lost", "node_failed", "webhook_deleted", "turn_lost", "retry_later", "mapping_error"):
        assert f"`{code}`" not in responses, code
    shown = set(re.findall(r"^\| `(\w+)` \|", records, re.MULTILINE))
    assert {
        "webhook_deleted",
        "turn_lost",
        "mapping_error",
        *EXECUTION_CODES,
        *NODE_CODES,
        *CALL_CODES,
    } <= shown

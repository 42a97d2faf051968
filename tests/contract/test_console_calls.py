"""Tests of the table of operations that the console calls: what has a screen keeps it."""

import re

from scripts.console_calls import (
    FOR_PROGRAMS,
    load_modules,
    load_operations,
    reason_not_called,
    screens_by_operation,
)

# Operations of people that still have no screen and no reason to have none. Only ever lowered, but for those
# that screens in the making need: the drafts of workflows and forms, and the preview of a form.
WITHOUT_SCREEN = 97


def test_operations_without_a_screen_become_fewer():
    rows, operations = screens_by_operation(), load_operations()
    missing = [
        operation
        for operation, is_for_people in operations.items()
        if is_for_people and not rows[operation] and not reason_not_called(operation)
    ]
    assert len(missing) == WITHOUT_SCREEN, "\n".join(missing)


def test_a_call_is_found_with_the_screens_that_make_it():
    rows = screens_by_operation()
    assert set().union(*rows["GET /api/v1/conversations"].values()) >= {"/conversations"}
    streamed = rows["GET /api/v1/agents/{agent_id}/chat/stream/{message_id}"]
    assert set().union(*streamed.values()) >= {"/agents/$agentId"}


def test_every_call_of_the_console_is_on_a_screen():
    lost = [
        (operation, name)
        for operation, callers in screens_by_operation().items()
        for name in callers
        if not callers[name]
    ]
    assert lost == []


def test_the_console_calls_no_operation_that_does_not_exist():
    operations = load_operations()
    typed = re.compile(r'\bapi\.(GET|POST|PUT|PATCH|DELETE)\(\s*"([^"]+)"')
    called = {
        f"{method} {path}"
        for module in load_modules().values()
        for method, path in typed.findall(module.text)
    }
    assert called <= set(operations)


def test_every_reason_is_of_an_operation_without_a_screen():
    rows = screens_by_operation()
    unused = [
        pattern
        for pattern, _ in FOR_PROGRAMS
        if not any(re.match(pattern, one) and not rows[one] for one in rows)
    ]
    assert unused == []

"""How a run ended, as it is answered and as it is recorded: after the leak guard, and cut to size."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw

from retinue.kit.redaction import Redactor
from retinue.tools.calls import Call
from retinue.tools.errors import ExecutionFailed
from retinue.tools.models import ExecutionStatus, ToolExecution
from retinue.tools.recording import cut_json, cut_logs, cut_text
from retinue.tools.schemas import Executed, ExecutionError

MAX_OUTPUT_BYTES = 1024 * 1024
_LONGEST_MESSAGE = 4096
_NOTHING = b"null"
_NO_SECRETS = Redactor()

INTERRUPTED = ExecutionFailed("runtime_error", "The run was interrupted; it may have had effects.")


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A run that has ended: its record, and what it gave in full."""

    execution: ToolExecution
    output: Any = None
    output_json: bytes = _NOTHING
    error: ExecutionError | None = None


def finish(call: Call, execution: ToolExecution, output: Any, failure: ExecutionFailed | None) -> Finished:
    """Fill in the record of a run with what it gave, or with how it failed."""
    redactor = call.redactor
    encoded = _NOTHING
    if failure is None:
        output, encoded, failure = _guarded(redactor, output)
    execution.input = cut_json(msgspec.json.encode(redactor.value(call.input)))
    execution.logs = cut_logs(redactor.text(call.logs))
    execution.attempts = call.attempts
    if failure is None:
        execution.status = ExecutionStatus.completed
        execution.output = cut_json(encoded)
        return Finished(execution=execution, output=output, output_json=encoded)
    return fail(execution, failure, redactor)


def fail(execution: ToolExecution, failure: ExecutionFailed, redactor: Redactor = _NO_SECRETS) -> Finished:
    """Fill in the record of a run that came to nothing."""
    execution.status = ExecutionStatus.timeout if failure.code == "timeout" else ExecutionStatus.failed
    error = _explained(redactor, failure)
    execution.error = _stored(error)
    return Finished(execution=execution, error=error)


def recalled(execution: ToolExecution) -> Finished:
    """A run that ended earlier, as far as its record tells."""
    error = msgspec.json.decode(execution.error, type=ExecutionError) if execution.error else None
    output = (execution.output or "null").encode()
    return Finished(execution=execution, output=msgspec.json.decode(output), output_json=output, error=error)


def answer(finished: Finished) -> Executed:
    """What the caller gets: the output in full, or the error."""
    return Executed.of(
        finished.execution,
        execution_id=finished.execution.id,
        output=Raw(finished.output_json) if finished.error is None else UNSET,
        error=finished.error or UNSET,
    )


def _guarded(redactor: Redactor, output: Any) -> tuple[Any, bytes, ExecutionFailed | None]:
    try:
        output = redactor.value(output)
        encoded = msgspec.json.encode(output)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None, _NOTHING, ExecutionFailed("invalid_output", "The output cannot be written as JSON.")
    if len(encoded) > MAX_OUTPUT_BYTES:
        return None, _NOTHING, ExecutionFailed("output_too_large", "The output is larger than 1 MiB.")
    return output, encoded, None


def _explained(redactor: Redactor, failure: ExecutionFailed) -> ExecutionError:
    message = cut_text(redactor.text(failure.message), _LONGEST_MESSAGE)
    if failure.details is None:
        return ExecutionError(code=failure.code, message=message)
    _, details, unusable = _guarded(redactor, failure.details)
    return ExecutionError(code=failure.code, message=message, details=UNSET if unusable else Raw(details))


def _stored(error: ExecutionError) -> str:
    if error.details is not UNSET:
        error = msgspec.structs.replace(error, details=Raw(cut_json(bytes(error.details))))
    return msgspec.json.encode(error).decode()

"""The result of a run, redacted, in full for the response and truncated for the record."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw

from retinue.kit.text.redaction import Redactor
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.models import ExecutionStatus, ToolExecution, ToolImage
from retinue.tools.run.records import truncate_json, truncate_logs, truncate_text
from retinue.tools.schemas import Executed, ExecutionError

MAX_OUTPUT_BYTES = 1024 * 1024
_MAX_MESSAGE_BYTES = 4096
_NULL_JSON = b"null"
_NO_REDACTION = Redactor()

INTERRUPTED = ExecutionFailed(
    "runtime_error", "The run was interrupted. It may have had effects; check before repeating it."
)


class ToolRunResult(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run: its record, its full output, and the images in it."""

    execution: ToolExecution
    output: Any = None
    output_json: bytes = _NULL_JSON
    error: ExecutionError | None = None
    images: tuple[ToolImage, ...] = ()


def finish_execution(
    call: ExecutorCall,
    execution: ToolExecution,
    output: object,
    failure: ExecutionFailed | None,
    images: tuple[ToolImage, ...] = (),
) -> ToolRunResult:
    """Fill in the record of a run with its output or its failure."""
    redactor = call.redactor
    encoded = _NULL_JSON
    if failure is None:
        output, encoded, failure = _redact_and_encode(redactor, output)
    execution.input = truncate_json(msgspec.json.encode(redactor.value(call.input)))
    execution.logs = truncate_logs(redactor.text(call.logs))
    execution.attempts = call.attempts
    if failure is None:
        execution.status = ExecutionStatus.completed
        execution.output = truncate_json(encoded)
        return ToolRunResult(execution=execution, output=output, output_json=encoded, images=images)
    return fail_execution(execution, failure, redactor)


def fail_execution(
    execution: ToolExecution, failure: ExecutionFailed, redactor: Redactor = _NO_REDACTION
) -> ToolRunResult:
    """Fill in the record of a failed run."""
    execution.status = ExecutionStatus.timeout if failure.code == "timeout" else ExecutionStatus.failed
    error = _redacted_error(redactor, failure)
    execution.error = _encode_error(error)
    return ToolRunResult(execution=execution, error=error)


def result_from_record(execution: ToolExecution) -> ToolRunResult:
    """Return the result of an earlier run from its record, which may be truncated."""
    error = msgspec.json.decode(execution.error, type=ExecutionError) if execution.error else None
    output = (execution.output or "null").encode()
    return ToolRunResult(
        execution=execution, output=msgspec.json.decode(output), output_json=output, error=error
    )


def to_response(finished: ToolRunResult) -> Executed:
    """Return the response: the full output or the error."""
    return Executed.of(
        finished.execution,
        execution_id=finished.execution.id,
        output=Raw(finished.output_json) if finished.error is None else UNSET,
        error=finished.error or UNSET,
    )


def _redact_and_encode(redactor: Redactor, output: object) -> tuple[Any, bytes, ExecutionFailed | None]:
    try:
        output = redactor.value(output)
        encoded = msgspec.json.encode(output)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None, _NULL_JSON, ExecutionFailed("invalid_output", "The output cannot be written as JSON.")
    if len(encoded) > MAX_OUTPUT_BYTES:
        return None, _NULL_JSON, ExecutionFailed("output_too_large", "The output is larger than 1 MiB.")
    return output, encoded, None


def _redacted_error(redactor: Redactor, failure: ExecutionFailed) -> ExecutionError:
    message = truncate_text(redactor.text(failure.message), _MAX_MESSAGE_BYTES)
    if failure.details is None:
        return ExecutionError(code=failure.code, message=message)
    _, details, unusable = _redact_and_encode(redactor, failure.details)
    return ExecutionError(code=failure.code, message=message, details=UNSET if unusable else Raw(details))


def _encode_error(error: ExecutionError) -> str:
    if error.details is not UNSET:
        error = msgspec.structs.replace(error, details=Raw(truncate_json(bytes(error.details))))
    return msgspec.json.encode(error).decode()

"""The child's program: load one reader, lock down, and send the rows in frames."""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from retinue.adapters.sandbox.guest import lockdown
from retinue.kit.json_types import JsonObject

from .errors import SheetRefused
from .place import PLACE

MEMORY_BYTES = 512 * 1024 * 1024
# A workbook is kept in memory: half a million rows of five cells take 240 MB.
WORKBOOK_MEMORY_BYTES = 1536 * 1024 * 1024
CPU_SECONDS = 900
MAX_ROWS = 5_000_000
MAX_FRAME_ROWS = 500
MAX_FRAME_LENGTH = 256 * 1024
MAX_ROW_LENGTH = 4 * 1024 * 1024


def main(parent: str, format: str, skip: str) -> None:
    lockdown.yield_to_server()
    read = _reader(format)
    memory_bytes = WORKBOOK_MEMORY_BYTES if format == "xlsx" else MEMORY_BYTES
    try:
        lockdown.lock_down(int(parent), memory_bytes=memory_bytes, cpu_seconds=CPU_SECONDS)
    except OSError as error:
        _send_frame(
            {
                "error": "sandbox_unavailable",
                "message": f"Files cannot be read safely on this machine: {error}.",
            }
        )
    else:
        _read_and_report(read(), int(skip))


def _reader(format: str) -> Callable[[], Iterator[Any]]:
    """Load the reader of a format before the lockdown."""
    if format == "xlsx":
        from . import xlsx_rows

        return xlsx_rows.read
    from . import csv_rows, json_rows, text_input

    text_input.load()
    return csv_rows.read if format == "csv" else json_rows.read


def _read_and_report(parsed_rows: Iterator[Any], skip: int) -> None:
    try:
        _write(parsed_rows, skip)
    except SheetRefused as refusal:
        _send_frame({"error": refusal.code, "message": str(refusal)})
    except MemoryError:
        _send_frame({"error": "too_large", "message": "The file needs too much memory."})
    except UnicodeError:
        _send_frame({"error": "parse_error", "message": "The file is not UTF-8 text. Save it as UTF-8."})
    except Exception as error:  # noqa: BLE001 - an unexpected failure of a reader
        _send_frame({"error": "parse_error", "fault": _describe_fault(error)})
    else:
        _send_frame({"is_end": True})


def _write(parsed_rows: Iterator[Any], skip: int) -> None:
    """Send the header, if there is one, and then the rows."""
    header = next(parsed_rows)
    if header is not None:
        _send_frame({"header": header})
    row_texts: list[str] = []
    lines: list[int | None] = []
    size = 0
    for number, row in enumerate(parsed_rows):
        if number >= MAX_ROWS:
            raise SheetRefused("too_large", f"The file has more than {MAX_ROWS:,} rows. Split it.")
        if number < skip:
            continue
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        if len(text) > MAX_ROW_LENGTH:
            raise SheetRefused(
                "too_large", f"Row {number + 1} of the file is larger than {MAX_ROW_LENGTH // 1024**2} MB."
            )
        row_texts.append(text)
        lines.append(PLACE.line)
        size += len(text)
        if len(row_texts) == MAX_FRAME_ROWS or size > MAX_FRAME_LENGTH:
            _send_rows(row_texts, lines)
            row_texts, lines, size = [], [], 0
    if row_texts:
        _send_rows(row_texts, lines)


def _send_rows(rows: list[str], lines: list[int | None]) -> None:
    _send('{"lines":' + json.dumps(lines) + ',"rows":[' + ",".join(rows) + "]}")


def _send_frame(frame: JsonObject) -> None:
    _send(json.dumps(frame, ensure_ascii=False))


def _send(text: str) -> None:
    # Lone surrogates cannot be encoded.
    content = text.encode("utf-8", "replace")
    sys.stdout.buffer.write(len(content).to_bytes(4, "big"))
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _describe_fault(error: Exception) -> str:
    """Return the error's type and place; its message may contain parts of the file."""
    frame_at = error.__traceback__
    while frame_at and frame_at.tb_next:
        frame_at = frame_at.tb_next
    code = frame_at.tb_frame.f_code if frame_at else None
    return (
        f"{type(error).__name__} in {code.co_name}, line {frame_at.tb_lineno}"
        if code and frame_at
        else "unknown"
    )

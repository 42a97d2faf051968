"""The program of the child: load one reader, give up everything, tell the rows in frames."""

import contextlib
import json
import os
import resource
import sys
from collections.abc import Iterator
from typing import Any

from retinue.adapters.sandbox.guest import confine, filters

from . import csv_rows, json_rows, text_of_file, xlsx_rows
from .refusals import Refusal

MEMORY_BYTES = 512 * 1024 * 1024
CPU_SECONDS = 900
MOST_ROWS = 5_000_000
ROWS_IN_FRAME = 500
BYTES_IN_FRAME = 256 * 1024
LARGEST_ROW = 4 * 1024 * 1024

_NOBODY = 65534
_READERS = {"csv": csv_rows.read, "json": json_rows.read, "xlsx": xlsx_rows.read}


def main(parent: str, format: str, skip: str) -> None:
    os.setpriority(os.PRIO_PROCESS, 0, 5)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - pathlib is slow to load
        score.write("500")
    read = _READERS[format]
    text_of_file.load()
    try:
        _give_up_everything(int(parent))
    except OSError as error:
        _say({"error": "sandbox_unavailable", "message": f"Files cannot be read safely here: {error}."})
    else:
        _answer(read(), int(skip))


def _give_up_everything(parent: int) -> None:
    """Root, files, addresses, processes and nearly every system call; OSError where the kernel cannot."""
    if os.geteuid() == 0:
        confine.become(_NOBODY)
    confine.drop_capabilities()
    confine.hide()
    # Only now, for a process that changes its user forgets that it wanted to.
    confine.die_with(parent)
    confine.limit(core=0, fsize=0, nproc=0, nofile=16, **{"as": MEMORY_BYTES})
    confine.limit(cpu=CPU_SECONDS + 1)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    # The signal of the soft limit says what happened; the one of the hard limit could be anyone's.
    resource.setrlimit(resource.RLIMIT_CPU, (min(CPU_SECONDS, hard), hard))
    confine.gain_nothing()
    if not confine.landlock():
        raise OSError("this kernel has no Landlock")
    confine.filter_calls(filters.for_computing())


def _answer(told: Iterator[Any], skip: int) -> None:
    try:
        _write(told, skip)
    except Refusal as refusal:
        _say({"error": refusal.code, "message": str(refusal)})
    except MemoryError:
        _say({"error": "too_large", "message": "The file needs more memory to be read than allowed."})
    except UnicodeError:
        _say({"error": "parse_error", "message": "The file is not text in UTF-8."})
    except Exception as error:  # noqa: BLE001 - a reader of ours met something nobody thought of
        _say({"error": "parse_error", "fault": _fault(error)})
    else:
        _say({"is_end": True})


def _write(told: Iterator[Any], skip: int) -> None:
    """The first thing told is the header, or None; rows follow."""
    header = next(told)
    if header is not None:
        _say({"header": header})
    gathered: list[str] = []
    size = 0
    for number, row in enumerate(told):
        if number >= MOST_ROWS:
            raise Refusal("too_large", f"The file has more than {MOST_ROWS:,} rows; split it.")
        if number < skip:
            continue
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        if len(text) > LARGEST_ROW:
            raise Refusal(
                "too_large", f"Row {number + 1} of the file is larger than {LARGEST_ROW // 1024**2} MB."
            )
        gathered.append(text)
        size += len(text)
        if len(gathered) == ROWS_IN_FRAME or size > BYTES_IN_FRAME:
            _say_rows(gathered)
            gathered, size = [], 0
    if gathered:
        _say_rows(gathered)


def _say_rows(rows: list[str]) -> None:
    _send('{"rows":[' + ",".join(rows) + "]}")


def _say(frame: dict[str, Any]) -> None:
    _send(json.dumps(frame, ensure_ascii=False))


def _send(text: str) -> None:
    # Half of a character from beyond the sixteenth bit is no text anywhere else.
    content = text.encode("utf-8", "replace")
    sys.stdout.buffer.write(len(content).to_bytes(4, "big"))
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _fault(error: Exception) -> str:
    """What went wrong and where; the error's own text may hold some of the file."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    code = place.tb_frame.f_code if place else None
    return (
        f"{type(error).__name__} in {code.co_name}, line {place.tb_lineno}" if code and place else "unknown"
    )

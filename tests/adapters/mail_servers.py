"""SMTP servers as processes, which file what they receive."""

import contextlib
import email
import email.policy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_SMTP = Path(__file__).with_name("smtp_server.py")


class MailServer:
    def __init__(self, folder: Path, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        self._folder = folder
        self.port = int(process.stdout.readline())

    @property
    def config(self) -> dict[str, Any]:
        return {"host": "127.0.0.1", "port": self.port, "from_email": "us@example.com"}

    def received(self) -> list[tuple[list[str], Any]]:
        """Return the recipients of the envelope and the mail, for each mail."""
        return [
            (
                json.loads(path.with_suffix(".json").read_text())["to"],
                email.message_from_bytes(path.read_bytes(), policy=email.policy.default),
            )
            for path in sorted(self._folder.glob("*.eml"))
        ]


@contextlib.contextmanager
def mail_servers(folder: Path) -> Iterator[Callable[..., MailServer]]:
    """Yield what starts a server with options of `smtp_server.py`; all of them end with the block."""
    started: list[subprocess.Popen[str]] = []

    def start(**options: Any) -> MailServer:
        inbox = folder / f"inbox{len(started)}"
        inbox.mkdir()
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        command = [sys.executable, str(_SMTP), str(inbox), *arguments]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return MailServer(inbox, process)

    try:
        yield start
    finally:
        for process in started:
            process.communicate(timeout=10)

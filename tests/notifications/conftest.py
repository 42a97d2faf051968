"""The companies that take notifications, on loopback, and people who send them."""

import email
import email.policy
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retinue.adapters.notifiers import SendContext
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from tests.adapters.notifying_servers import CONFIGS, Vendors, vendors
from tests.services import in_each

_SMTP = Path(__file__).parents[1] / "adapters" / "smtp_server.py"


@pytest.fixture
async def companies(service: Service, clock: ManualClock) -> AsyncIterator[Vendors]:
    async with vendors() as found:

        def send_there(one: Service) -> None:
            egress = one.instance.adapters[Egress]
            one.instance.adapters[SendContext] = SendContext(egress, clock, dict.fromkeys(CONFIGS, found.url))

        in_each(service, send_there)
        yield found
        assert found.complaints == []


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


@pytest.fixture
def mail_server(tmp_path: Path) -> Iterator[Callable[..., MailServer]]:
    started = []

    def start(**options: Any) -> MailServer:
        folder = tmp_path / f"inbox{len(started)}"
        folder.mkdir()
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        command = [sys.executable, str(_SMTP), str(folder), *arguments]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return MailServer(folder, process)

    yield start
    for process in started:
        process.communicate(timeout=10)

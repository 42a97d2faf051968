"""Mail as files, for an instance without a mail server."""

import asyncio
import secrets
from pathlib import Path

from structlog.typing import FilteringBoundLogger

from retinue.adapters.mail.message import Mail, MailFailed, Sender, build_mime_message
from retinue.kit.clock import Clock
from retinue.kit.durable_files import create_private_file


class OutboxMailer:
    """Writes each mail to a private file that any editor can read, and logs its name."""

    def __init__(self, folder: Path, sender: str, log: FilteringBoundLogger, clock: Clock) -> None:
        self._folder = folder
        self._sender = Sender.parse(sender)
        self._log = log
        self._clock = clock

    async def send(self, mail: Mail) -> None:
        content = build_mime_message(mail, self._sender, self._clock, as_file=True).as_bytes()
        name = f"{self._clock.now().replace(':', '')}-{secrets.token_hex(4)}.eml"
        try:
            await asyncio.to_thread(create_private_file, self._folder / name, content)
        except OSError as error:
            raise MailFailed(f"The mail could not be written to the outbox: {error.strerror}.") from error
        self._log.info("mail_written", file=str(self._folder / name))

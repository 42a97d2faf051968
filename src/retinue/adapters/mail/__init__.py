"""Outgoing mail of the instance itself: through SMTP, or into a folder if none is configured."""

from urllib.parse import urlsplit

import structlog

from retinue.adapters.mail.message import Mail, Mailer, MailFailed, mail_domain
from retinue.adapters.mail.outbox import OutboxMailer
from retinue.adapters.mail.smtp import SmtpMailer
from retinue.kit.clock import Clock
from retinue.kit.settings import Settings

__all__ = ["Mail", "MailFailed", "Mailer", "OutboxMailer", "SmtpMailer", "mailer_for"]


def mailer_for(settings: Settings, clock: Clock) -> Mailer:
    sender = (
        settings.mail_from or f"retinue@{mail_domain(urlsplit(settings.base_url).hostname or 'localhost')}"
    )
    if settings.smtp_url:
        return SmtpMailer(settings.smtp_url, sender, clock)
    return OutboxMailer(settings.data_dir / "outbox", sender, structlog.get_logger("mail"), clock)

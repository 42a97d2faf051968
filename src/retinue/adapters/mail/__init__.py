"""Outgoing mail of the instance itself: over SMTP, or into a folder where none is configured."""

import ipaddress
from urllib.parse import urlsplit

import structlog

from retinue.adapters.mail.message import Mail, Mailer, MailFailed
from retinue.adapters.mail.outbox import OutboxMailer
from retinue.adapters.mail.smtp import SmtpMailer
from retinue.kit.clock import Clock
from retinue.kit.settings import Settings

__all__ = ["Mail", "MailFailed", "Mailer", "OutboxMailer", "SmtpMailer", "mailer_for"]


def mailer_for(settings: Settings, clock: Clock) -> Mailer:
    sender = settings.mail_from or f"retinue@{_mail_domain(settings.base_url)}"
    if settings.smtp_url:
        return SmtpMailer(settings.smtp_url, sender, clock)
    return OutboxMailer(settings.data_dir / "outbox", sender, structlog.get_logger("mail"), clock)


def _mail_domain(base_url: str) -> str:
    host = urlsplit(base_url).hostname or "localhost"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    return f"[{address}]" if address.version == 4 else f"[IPv6:{address}]"

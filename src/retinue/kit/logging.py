"""Structured logs with tenant and correlation id, and without secrets."""

import logging
import re
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

import structlog

from retinue.kit.settings import Settings
from retinue.kit.text.redaction import redact_for_log

current_request: ContextVar[Any] = ContextVar("current_request", default=None)

_SECRETS = re.compile(
    r"(api_key=|token=|password=|secret=)[^&\s\"']+|\b(emb_|whsec_)[A-Za-z0-9+/=_-]{8,}|(Bearer )\S+",
    re.IGNORECASE,
)


# What every secret of the pattern begins with: in folded text this is several times as fast to look for.
_SECRET_MARKS = re.compile(r"api_key=|token=|password=|secret=|emb_|whsec_|bearer ")


def may_contain_secret(text: str) -> bool:
    """Return whether `scrub_secrets` may find something."""
    return _SECRET_MARKS.search(text.lower()) is not None


def scrub_secrets(text: str) -> str:
    """Mask anything that looks like a secret in text for a log or an error record."""
    return _SECRETS.sub(lambda found: (found[1] or found[2] or found[3] or "") + "***", text)


def current_tenant_id() -> str:
    """Return the tenant of the current request or job; empty outside of both and before sign-in."""
    tenant_id: str = getattr(getattr(current_request.get(), "principal", None), "tenant_id", "") or ""
    return tenant_id


def _add_request(_logger: object, _name: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    request = current_request.get()
    if request is not None:
        entry.setdefault("correlation_id", request.correlation_id)
        tenant_id = current_tenant_id()
        if tenant_id:
            entry.setdefault("tenant_id", tenant_id)
    return entry


def _scrub_entry(_logger: object, _name: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in entry.items():
        if isinstance(value, str):
            entry[name] = scrub_secrets(redact_for_log(value))
    return entry


def configure_logging(settings: Settings) -> None:
    as_json = settings.log_format == "json" or (not settings.log_format and not sys.stderr.isatty())
    level = getattr(logging, settings.log_level.upper())
    renderer: Any = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_request,
            # No local variables in traces: they may hold secrets.
            structlog.processors.format_exc_info,
            _scrub_entry,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )

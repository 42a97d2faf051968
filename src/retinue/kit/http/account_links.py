"""Addresses of the pages for registration, verification and passwords, to which mails and commands link."""

from collections.abc import Callable
from urllib.parse import urlencode

import msgspec

from retinue.kit.context import Context

# The plain pages work without a built console; those of the console have its look and languages.
_CONSOLE_NAMES = {"register": "accept-invitation"}


class ConsolePages(msgspec.Struct, frozen=True):
    """Provided by the console; `is_built` tells whether its pages can be shown."""

    is_built: Callable[[], bool]


def account_link(ctx: Context, page: str, **query: str) -> str:
    """Return the address of `verify-email`, `reset-password`, `register` or `forgot-password`."""
    return find_console_page(ctx, page, **query) or _address(ctx, page, query)


def find_console_page(ctx: Context, page: str, **query: str) -> str | None:
    """Return the address of the console's page; None while the console is not built."""
    if not any(pages.is_built() for pages in ctx.instance.registry.all(ConsolePages)):
        return None
    return _address(ctx, f"console/{_CONSOLE_NAMES.get(page, page)}", query)


def _address(ctx: Context, place: str, query: dict[str, str]) -> str:
    return f"{ctx.settings.base_url}/{place}" + (f"?{urlencode(query)}" if query else "")

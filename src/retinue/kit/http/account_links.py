"""Addresses of the pages for registration, verification and passwords, to which mails and commands link."""

from collections.abc import Callable
from urllib.parse import urlencode

import msgspec

from retinue.kit.context import Context

_CONSOLE_NAMES = {"register": "accept-invitation"}


class ConsolePages(msgspec.Struct, frozen=True):
    """Provided by the console; `is_built` tells whether its pages can be shown."""

    is_built: Callable[[], bool]


def account_link(ctx: Context, page: str, **query: str) -> str:
    """Return the address of `verify-email`, `reset-password`, `register` or `forgot-password`.

    It stays the same whether or not the console is built, because mails are read later.
    """
    return f"{ctx.settings.base_url}/{page}" + (f"?{urlencode(query)}" if query else "")


def find_console_page(ctx: Context, page: str, **values: str | None) -> str | None:
    """Return the address of the console's page; None while the console is not built.

    The values are in the fragment, which browsers send to no server: it is in no log and no Referer.
    """
    if not any(pages.is_built() for pages in ctx.instance.registry.all(ConsolePages)):
        return None
    given = urlencode({name: value for name, value in values.items() if value})
    place = f"{ctx.settings.base_url}/console/{_CONSOLE_NAMES.get(page, page)}"
    return f"{place}#{given}" if given else place

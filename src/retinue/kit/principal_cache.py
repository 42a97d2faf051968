"""Principals, cached under their tenant's stamp: a request reads the stamp, not four tables (ADR 44).

Whatever ends or changes a session, a user, a role, a service account or a tenant raises the stamp in the same
transaction (`identity_columns` of the tables), so the next request of any process sees it.
"""

from collections.abc import Awaitable, Callable, Hashable
from typing import NamedTuple

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.config_cache import MISSING, config_version_now
from retinue.kit.context.instance import Instance
from retinue.kit.db.config_versions import CURRENT_STAMP
from retinue.kit.principal import Principal


class LoadedPrincipal(NamedTuple):
    """A principal as the database has it, until when it may act, and whether its tenant has listeners."""

    principal: Principal
    expires_at: Instant
    is_listened_to: bool
    is_cacheable: bool = True


async def find_principal(
    instance: Instance,
    tenant_id: str,
    key: Hashable,
    load: Callable[[], Awaitable[LoadedPrincipal | None]],
) -> Principal | None:
    """Return the principal from `load`, or cached by an earlier request; None if it may not act any more."""
    compiled = CURRENT_STAMP.compiled(instance.database.dialect, narrow=False)
    rows = await instance.database.fetch(compiled.sql, [tenant_id], heavy=False)
    version = config_version_now(instance.clock, rows[0][0] if rows else None)
    now = instance.clock.monotonic()
    loaded: LoadedPrincipal | None = instance.principals.get_cached(key, version, now)
    if loaded is MISSING or loaded is None or loaded.expires_at <= instance.clock.now():
        loaded = await load()
        if loaded is None:
            return None
        if loaded.is_cacheable:
            instance.principals.store_cached(key, version, now, loaded)
    return msgspec.structs.replace(
        loaded.principal,
        config_version=version,
        no_listeners_until=0.0 if loaded.is_listened_to else version.until,
    )

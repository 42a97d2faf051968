"""The address and login of a foreign database."""

from pathlib import Path
from typing import Literal, get_args

import msgspec

from retinue.adapters.databases.errors import DatabaseNotConfigured
from retinue.kit.egress import Egress, PinnedAddress
from retinue.kit.fair_queue import NOBODY, QueuedCaller
from retinue.kit.secrets import Secret

DbType = Literal["postgresql", "mysql", "sqlite"]
TlsMode = Literal["disable", "prefer", "require", "verify-ca", "verify-full"]

CONNECT_TIMEOUT_SECONDS = 5.0

_MAX_ADDRESSES_TRIED = 3

_DB_TYPES: dict[str, DbType] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
}
_DEFAULT_PORTS: dict[DbType, int] = {"postgresql": 5432, "mysql": 3306, "sqlite": 0}
# PostgreSQL's names for the modes; MySQL's tools use synonyms.
_TLS_MODES: dict[str, TlsMode] = {
    **{mode: mode for mode in get_args(TlsMode)},
    "allow": "prefer",
    "disabled": "disable",
    "preferred": "prefer",
    "required": "require",
    "verify-identity": "verify-full",
}


class ConnectionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Connection data; `folder` is the tenant's folder, in which `database` names an SQLite file."""

    db_type: DbType
    database: str = ""
    host: str = ""
    port: int | None = None
    username: str = ""
    password: Secret = Secret("")
    tls: TlsMode = "prefer"
    ca_certificates: str = ""
    folder: Path | None = None
    requester: QueuedCaller = NOBODY

    @property
    def server_port(self) -> int:
        return self.port or _DEFAULT_PORTS[self.db_type]


def find_db_type(name: str) -> DbType | None:
    """Return the canonical name of an engine; `postgres` and `mariadb` are accepted as aliases."""
    return _DB_TYPES.get(name.lower())


def tls_mode(*, ssl: bool | None = None, ssl_mode: str | None = None) -> TlsMode:
    """Return the TLS mode; `ssl_mode` overrides `ssl`, where true means `verify-full`."""
    if ssl_mode:
        mode = _TLS_MODES.get(ssl_mode.lower().replace("_", "-"))
        if mode is None:
            raise DatabaseNotConfigured(f"ssl_mode must be one of {', '.join(get_args(TlsMode))}.")
        return mode
    if ssl is None:
        return "prefer"
    return "verify-full" if ssl else "disable"


async def pin(egress: Egress, spec: ConnectionSpec) -> PinnedAddress:
    """Return the server's checked addresses, at most three; a socket path is refused: it is not a host."""
    if not spec.host or not spec.username:
        raise DatabaseNotConfigured("The connection needs a host and a username.")
    if not 0 < spec.server_port < 65536:
        raise DatabaseNotConfigured("The port must be a number from 1 to 65535.")
    pinned = await egress.pin(spec.host, spec.server_port)
    return pinned._replace(addresses=pinned.addresses[:_MAX_ADDRESSES_TRIED])

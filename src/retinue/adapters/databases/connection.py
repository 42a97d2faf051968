"""Where a foreign database is and how to log in there."""

from pathlib import Path
from typing import Literal, get_args

import msgspec

from retinue.adapters.databases.errors import DatabaseNotConfigured
from retinue.kit.egress import Egress, PinnedAddress
from retinue.kit.secrets import Secret

DbType = Literal["postgresql", "mysql", "sqlite"]
TlsMode = Literal["disable", "prefer", "require", "verify-ca", "verify-full"]

CONNECT_S = 5.0
ADDRESSES_TRIED = 3

_DB_TYPES: dict[str, DbType] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
}
_DEFAULT_PORTS: dict[DbType, int] = {"postgresql": 5432, "mysql": 3306, "sqlite": 0}
# PostgreSQL's names for the modes; those of MySQL's tools mean the same.
_TLS_MODES: dict[str, TlsMode] = {
    **{mode: mode for mode in get_args(TlsMode)},
    "allow": "prefer",
    "disabled": "disable",
    "preferred": "prefer",
    "required": "require",
    "verify-identity": "verify-full",
}


class ConnectionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` is the tenant's, below which `database` names the file of an SQLite database."""

    db_type: DbType
    database: str = ""
    host: str = ""
    port: int | None = None
    username: str = ""
    password: Secret = Secret("")
    tls: TlsMode = "prefer"
    ca_certificates: str = ""
    folder: Path | None = None

    @property
    def server_port(self) -> int:
        return self.port or _DEFAULT_PORTS[self.db_type]


def find_db_type(name: str) -> DbType | None:
    """The one name of an engine; `postgres` and `mariadb` are accepted for what they are."""
    return _DB_TYPES.get(name.lower())


def tls_mode(*, ssl: bool | None = None, ssl_mode: str | None = None) -> TlsMode:
    """`ssl_mode` wins over `ssl`; true verifies certificate and name, false is plain, nothing is `prefer`."""
    if ssl_mode:
        mode = _TLS_MODES.get(ssl_mode.lower().replace("_", "-"))
        if mode is None:
            raise DatabaseNotConfigured(f"ssl_mode must be one of {', '.join(get_args(TlsMode))}.")
        return mode
    if ssl is None:
        return "prefer"
    return "verify-full" if ssl else "disable"


async def pin(egress: Egress, spec: ConnectionSpec) -> PinnedAddress:
    """The checked addresses of the server; a path of a socket is no host and is refused like any other."""
    if not spec.host or not spec.username:
        raise DatabaseNotConfigured("The connection needs a host and a username.")
    if not 0 < spec.server_port < 65536:
        raise DatabaseNotConfigured("The port must be a number from 1 to 65535.")
    return await egress.pin(spec.host, spec.server_port)

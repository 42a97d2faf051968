"""Contents of a copied database, as a backup records them and a restore compares them."""

import msgspec


class StoredBlob(msgspec.Struct, frozen=True):
    """A row of `files`: the blob that a copy of the database names."""

    tenant_id: str
    id: str
    bytes: int
    sha256: str


class DatabaseContent(msgspec.Struct, frozen=True, kw_only=True):
    """The revision, the rows of each table, the blobs, and the root keys that the stored keys need."""

    revision: str
    tables: dict[str, int]
    blobs: list[StoredBlob]
    root_fingerprints: frozenset[str]


BLOBS_QUERY = "SELECT tenant_id, id, size_bytes, sha256 FROM files ORDER BY tenant_id, id"
FINGERPRINTS_QUERY = "SELECT DISTINCT root_fingerprint FROM vault_keys"
REVISION_QUERY = "SELECT version_num FROM alembic_version"


def count_query(table: str) -> str:
    return f'SELECT count(*) FROM "{table}"'  # noqa: S608  a name from the catalogue

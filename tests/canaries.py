"""Planted secrets, every form they may take, and the places where none of them may lie."""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import asyncpg

from retinue.kit.db.models import metadata
from retinue.kit.vault import KEY_FILE


def forms(secret: str) -> Iterator[bytes]:
    """Yield every encoding in which the secret might be stored."""
    raw = secret.encode()
    yield raw
    yield binascii.hexlify(raw)
    yield binascii.hexlify(raw).upper()
    yield json.dumps(secret)[1:-1].encode()
    yield quote(secret).encode()
    yield quote_plus(secret).encode()
    for shift in range(3):
        # Inside a longer base64 text a secret looks different for each of three offsets; its ends blur.
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * shift + raw)[4 if shift else 0 : -4]


def hits(haystack: bytes, secrets: Iterable[str]) -> list[tuple[str, bytes]]:
    return [(secret, form) for secret in secrets for form in set(forms(secret)) if form in haystack]


async def read_everything_stored(data_dir: Path, database_url: str) -> bytes:
    """Return the bytes of every file, and on PostgreSQL every row of every table."""
    files = b"".join(
        path.read_bytes() for path in data_dir.rglob("*") if path.name != KEY_FILE and path.is_file()
    )
    return files + (await _every_row(database_url) if database_url else b"")


async def _every_row(database_url: str) -> bytes:
    connection = await asyncpg.connect(database_url)
    try:
        rows = []
        for table in metadata.sorted_tables:
            if not table.name.startswith(("test_", "bench_")):
                rows += await connection.fetch(f'SELECT t::text FROM "{table.name}" t')
    finally:
        await connection.close()
    text = "\n".join(row[0] for row in rows)
    # bytea is written in hexadecimal: what it stands for is searched as well.
    return text.encode() + b"".join(
        binascii.unhexlify(part.split('"')[0]) for part in text.split("\\\\x")[1:]
    )

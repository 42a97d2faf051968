"""The child's program: lock down, read a document from stdin and write the excerpt of it to stdout.

The first line of the input is a JSON list of the wanted operations, or null for all.
"""

import msgspec

from retinue.adapters.openapi.child.program import MAX_EVENTS, MAX_JSON_BYTES, run
from retinue.adapters.openapi.description import InvalidDocument
from retinue.adapters.openapi.document_text import parse_text
from retinue.adapters.openapi.excerpt import make_excerpt

MAX_EXCERPT_BYTES = 8 * 1024 * 1024


def main(parent: str) -> None:
    run(parent, _excerpt)


def _excerpt(content: bytes) -> bytes:
    wanted, _, text = content.partition(b"\n")
    parsed = parse_text(text, MAX_JSON_BYTES, max_events=MAX_EVENTS)
    written = msgspec.json.encode(make_excerpt(parsed, msgspec.json.decode(wanted)))
    if len(written) > MAX_EXCERPT_BYTES:
        raise InvalidDocument(
            f"has {len(written) / 1024**2:.1f} MiB of operations and what they refer to, and "
            f"{MAX_EXCERPT_BYTES // 1024**2} MiB are read; name the ones that you need in `operations`"
        )
    return written

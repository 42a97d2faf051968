"""`retinue audit check`: proves an export without the server that wrote it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import typer

from retinue.audit.schemas import AuditKeys
from retinue.cli.maintenance import with_instance
from retinue.kit.context.instance import Instance
from retinue.kit.events import audit_export
from retinue.kit.events.audit_export import BadExport, check_export
from retinue.kit.settings import Settings


def run_export_check(file: Path, keys: Path | None, read_settings: Callable[[], Settings]) -> None:
    public = _read_keys(keys) if keys is not None else _own_keys(read_settings())
    with _blaming(file), file.open("rb") as lines:
        manifest = check_export(lines, public)
    typer.echo(
        f"intact: rows {manifest.from_sequence} to {manifest.to_sequence} of {manifest.tenant_id}, "
        f"exported {manifest.exported_at}, signed by {manifest.key_id}"
    )


def _read_keys(file: Path) -> Mapping[str, bytes]:
    with _blaming(file):
        found = msgspec.json.decode(file.read_bytes(), type=AuditKeys)
        return {key.kid: audit_export.decode_base64(key.x) for key in found.keys}


@contextmanager
def _blaming(file: Path) -> Iterator[None]:
    """End the command with the file that cannot be read or is not intact."""
    try:
        yield
    except (OSError, msgspec.MsgspecError, ValueError, BadExport) as error:
        typer.echo(f"{file}: {error}", err=True)
        raise typer.Exit(1) from error


def _own_keys(settings: Settings) -> Mapping[str, bytes]:
    """Return the keys of the instance that these settings name."""
    public: dict[str, bytes] = {}

    async def action(instance: Instance) -> bool:
        public.update(audit_export.public_keys(instance.ring))
        return True

    with_instance(settings, action)
    return public

"""`retinue vault …`: the encryption keys."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from retinue.cli.maintenance import with_instance
from retinue.kit.context.instance import Instance
from retinue.kit.crypto import RootKey
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.vault.root_rotation import rotate_root
from retinue.kit.vault.rotation import Rotation, RotationCallback, RotationProgress, RotationStage, rotate_key
from retinue.kit.vault.signing_key_rotation import rotate_signing_key
from retinue.kit.vault.status import VaultStatus, read_status

_AFTER_FILE = "Other machines of this instance need a copy of that file."
_AFTER_ENVIRONMENT = "Set RETINUE_MASTER_KEY to it and restart every process before you rotate a key again."


def run_rotate_key(settings: Settings) -> None:
    async def action(instance: Instance) -> bool:
        with _progress() as watch:
            rotation = await rotate_key(instance, watch=watch)
        _print_rotation(rotation)
        return not rotation.unreadable

    with_instance(settings, action)


def run_rotate_root(settings: Settings, new_key: str) -> None:
    new_root = _new_root(new_key)
    is_in_file = settings.master_key is None

    async def action(instance: Instance) -> bool:
        if not is_in_file and not new_key and not instance.vault.sealed_because:
            # Print it before anything changes: a key that no one has seen must not wrap anything.
            typer.echo(f"New master key (shown once): {new_root.encoded().reveal()}")
            sys.stdout.flush()
        await rotate_root(instance, new_root)
        where = "master.key in the data dir" if is_in_file else "the new master key"
        typer.echo(f"The key ring is now wrapped with {where} (fingerprint {new_root.fingerprint}).")
        typer.echo(_AFTER_FILE if is_in_file else _AFTER_ENVIRONMENT)
        return True

    with_instance(settings, action)


def run_rotate_signing_key(settings: Settings) -> None:
    async def action(instance: Instance) -> bool:
        typer.echo("Announcing the new key to every running process …", err=True)
        key_id = await rotate_signing_key(instance)
        typer.echo(f"New access tokens are signed with {key_id}; existing tokens stay valid.")
        return True

    with_instance(settings, action)


def run_status(settings: Settings) -> None:
    async def action(instance: Instance) -> bool:
        _print_status(await read_status(instance))
        return True

    with_instance(settings, action)


def _new_root(text: str) -> RootKey:
    return RootKey.parse(Secret(text), "--new-key") if text else RootKey.generate()


def _print_rotation(rotation: Rotation) -> None:
    typer.echo(f"Key version {rotation.version} is active; {rotation.moved} secrets were re-wrapped.")
    if rotation.retired:
        typer.echo(f"Deleted old versions: {', '.join(map(str, rotation.retired))}.")
    for place in rotation.unreadable:
        name = f"{place.table}.{place.field} of {place.record_id} (tenant {place.tenant_id or '-'})"
        typer.echo(f"retinue: cannot be decrypted, so the old versions are kept: {name}", err=True)


def _print_status(status: VaultStatus) -> None:
    typer.echo(
        f"The vault is sealed: {status.sealed_because}." if status.sealed_because else "The vault is open."
    )
    for row in status.versions:
        typer.echo(
            f"version {row.version}  {row.state:<6}  since {row.since}  root {row.root_fingerprint}"
            f"  {row.secrets} secrets"
        )
    if status.lost:
        typer.echo(f"{status.lost} secrets name a version that does not exist")
    for key in status.signing_keys:
        until = f"  until {key.retire_at}" if key.retire_at else ""
        typer.echo(f"signing key {key.id}  {key.state:<6}  since {key.since}{until}")


@contextmanager
def _progress() -> Iterator[RotationCallback]:
    """Yield a callback that shows a bar on a terminal, else one line per stage."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        tasks = {}

        def watch(progress: RotationProgress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(progress.stage)
            bars.update(tasks[progress.stage], completed=progress.done, total=progress.total)

        yield watch


def _lines() -> RotationCallback:
    announced: set[RotationStage] = set()

    def watch(progress: RotationProgress) -> None:
        if progress.stage not in announced:
            announced.add(progress.stage)
            typer.echo(f"{progress.stage} …", err=True)

    return watch

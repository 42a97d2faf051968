"""`retinue vault …`: the keys at rest."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from retinue.cli.maintenance import with_instance
from retinue.kit.crypto import RootKey
from retinue.kit.instance import Instance
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.vault.root_rotation import rotate_root
from retinue.kit.vault.rotation import Progress, Rotation, Stage, Watch, rotate_key
from retinue.kit.vault.signing import rotate_signing_key
from retinue.kit.vault.status import VaultStatus, read_status

_AFTER_FILE = "Other machines of this instance need a copy of that file."
_AFTER_ENVIRONMENT = "Set RETINUE_MASTER_KEY to it and restart every process before you rotate any key again."


def run_rotate_key(settings: Settings) -> None:
    async def action(instance: Instance) -> bool:
        with _progress() as watch:
            rotation = await rotate_key(instance, watch=watch)
        _tell(rotation)
        return not rotation.unreadable

    with_instance(settings, action)


def run_rotate_root(settings: Settings, new_key: str) -> None:
    new_root = _new_root(new_key)
    is_in_file = settings.master_key is None

    async def action(instance: Instance) -> bool:
        if not is_in_file and not new_key and not instance.vault.sealed_because:
            # Shown before anything changes: a key that nobody has seen must not wrap anything.
            typer.echo(f"New master key (shown once): {new_root.encoded().reveal()}")
            sys.stdout.flush()
        await rotate_root(instance, new_root)
        where = "master.key in the data dir" if is_in_file else "the new master key"
        typer.echo(f"The key ring is wrapped with {where} now (fingerprint {new_root.fingerprint}).")
        typer.echo(_AFTER_FILE if is_in_file else _AFTER_ENVIRONMENT)
        return True

    with_instance(settings, action)


def run_rotate_signing_key(settings: Settings) -> None:
    async def action(instance: Instance) -> bool:
        typer.echo("Telling every running process of the new key …", err=True)
        key_id = await rotate_signing_key(instance)
        typer.echo(f"New access tokens are signed with {key_id}; tokens of the key before it stay good.")
        return True

    with_instance(settings, action)


def run_status(settings: Settings) -> None:
    async def action(instance: Instance) -> bool:
        _show(await read_status(instance))
        return True

    with_instance(settings, action)


def _new_root(text: str) -> RootKey:
    return RootKey.parse(Secret(text), "--new-key") if text else RootKey.generate()


def _tell(rotation: Rotation) -> None:
    typer.echo(f"Key version {rotation.version} is active; {rotation.moved} secrets were wrapped anew.")
    if rotation.retired:
        typer.echo(f"Deleted old versions: {', '.join(map(str, rotation.retired))}.")
    for place in rotation.unreadable:
        name = f"{place.table}.{place.field} of {place.record_id} (tenant {place.tenant_id or '-'})"
        typer.echo(f"retinue: cannot be decrypted, so the old versions are kept: {name}", err=True)


def _show(status: VaultStatus) -> None:
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
def _progress() -> Iterator[Watch]:
    """A bar on a terminal, else one line for each stage."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        tasks = {}

        def watch(progress: Progress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(progress.stage)
            bars.update(tasks[progress.stage], completed=progress.done, total=progress.total)

        yield watch


def _lines() -> Watch:
    told: set[Stage] = set()

    def watch(progress: Progress) -> None:
        if progress.stage not in told:
            told.add(progress.stage)
            typer.echo(f"{progress.stage} …", err=True)

    return watch

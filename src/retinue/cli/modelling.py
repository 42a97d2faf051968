"""`retinue models`: the weights of the embedded models."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from retinue.adapters.embedded.pulling import Progress, Watch, pull
from retinue.adapters.embedded.weights import CATALOGUE, find
from retinue.kit.settings import Settings


def run_pull(settings: Settings) -> None:
    folder = settings.models_folder
    with _progress() as watch:
        pulled = pull(folder, CATALOGUE, watch)
    if pulled:
        typer.echo(f"Fetched {', '.join(pulled)} into {folder}.", err=True)


def run_list(settings: Settings) -> None:
    folder = settings.models_folder
    for weights in CATALOGUE:
        state = "here" if find(folder, weights) else "missing"
        size = f"{weights.size / 1e6:.0f} MB"
        typer.echo(f"local/{weights.model:<18} {state:<8} {size:>7}  {weights.licence:<11} {weights.title}")
    if settings.local_model:
        typer.echo(f"RETINUE_LOCAL_MODEL is {settings.local_model}")


@contextmanager
def _progress() -> Iterator[Watch]:
    """Bars on a terminal, else one line for each model."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    made: list[_Bars] = []

    def watch(progress: Progress) -> None:
        # rich takes longer to import than finding that nothing is missing.
        if not made:
            made.append(_Bars())
        made[0].show(progress)

    try:
        yield watch
    finally:
        if made:
            made[0].stop()


class _Bars:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._bars = Bars(*columns, console=Console(stderr=True))
        self._bars.start()
        self._tasks: dict[str, TaskID] = {}

    def show(self, progress: Progress) -> None:
        if progress.model not in self._tasks:
            self._tasks[progress.model] = self._bars.add_task(progress.model)
        self._bars.update(self._tasks[progress.model], completed=progress.done, total=progress.total)

    def stop(self) -> None:
        self._bars.stop()


def _lines() -> Watch:
    told: set[str] = set()

    def watch(progress: Progress) -> None:
        if progress.model not in told:
            told.add(progress.model)
            typer.echo(f"fetching {progress.model} ({progress.total / 1e6:.0f} MB) …", err=True)

    return watch

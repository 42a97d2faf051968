"""`retinue models`: the weights of the embedded models, and the list prices of all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import typer

from retinue.adapters.embedded.weights import WEIGHTS_CATALOGUE, find
from retinue.adapters.embedded.weights_download import DownloadProgress, ProgressCallback, pull
from retinue.adapters.llm.prices import FILE_NAME, read_prices, shipped_prices
from retinue.kit.durable_files import make_private_folder, private_umask, replace_private_file
from retinue.kit.extras import ExtraName, install_hint, is_installed
from retinue.kit.settings import Settings


def run_pull(settings: Settings) -> None:
    folder = settings.models_folder
    wanted = [weights for weights in WEIGHTS_CATALOGUE if is_installed(weights.extra)]
    _report_missing_extras()
    if not wanted:
        raise typer.Exit(1)
    # A folder that was configured explicitly may be shared by several instances.
    with nullcontext() if settings.models_dir else private_umask(), _progress() as watch:
        pulled = pull(folder, wanted, watch)
    if pulled:
        typer.echo(f"Fetched {', '.join(pulled)} into {folder}.", err=True)


def run_list(settings: Settings) -> None:
    folder = settings.models_folder
    for weights in WEIGHTS_CATALOGUE:
        state = "here" if find(folder, weights) else "missing"
        size = f"{weights.size / 1e6:.0f} MB"
        typer.echo(f"local/{weights.model:<18} {state:<8} {size:>7}  {weights.licence:<11} {weights.title}")
    if settings.local_model:
        typer.echo(f"RETINUE_LOCAL_MODEL is {settings.local_model}")
    _report_missing_extras()


def _report_missing_extras() -> None:
    """Name the models that cannot run here, with the command that installs what they need."""
    models: dict[ExtraName, list[str]] = {}
    for weights in WEIGHTS_CATALOGUE:
        if not is_installed(weights.extra):
            models.setdefault(weights.extra, []).append(weights.model)
    for extra, names in models.items():
        typer.echo(f"Cannot run here: {', '.join(names)}. To use them, {install_hint(extra)}.", err=True)


def run_update_prices(settings: Settings, file: Path) -> None:
    """Put a newer list into the data directory; it replaces the shipped one while it is newer."""
    try:
        content = file.read_bytes()
        newer = read_prices(content)
    except (OSError, ValueError) as error:
        typer.echo(f"retinue: {file} is not a list of prices: {error}", err=True)
        raise typer.Exit(1) from error
    shipped = shipped_prices()
    if newer.as_of <= shipped.as_of:
        typer.echo(
            f"The list of {newer.as_of} is not newer than the one of {shipped.as_of} in use.", err=True
        )
        raise typer.Exit(1)
    make_private_folder(settings.data_dir)
    replace_private_file(settings.data_dir / FILE_NAME, content)
    count = sum(map(len, newer.providers.values()))
    typer.echo(f"{count} prices of {newer.as_of} are used after the next start.")


@contextmanager
def _progress() -> Iterator[ProgressCallback]:
    """Yield a callback that shows bars on a terminal, else one line per model."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    bars: list[_ProgressBars] = []

    def watch(progress: DownloadProgress) -> None:
        # Importing rich takes longer than finding out that nothing is missing.
        if not bars:
            bars.append(_ProgressBars())
        bars[0].show(progress)

    try:
        yield watch
    finally:
        if bars:
            bars[0].stop()


class _ProgressBars:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._bars = Bars(*columns, console=Console(stderr=True))
        self._bars.start()
        self._tasks: dict[str, TaskID] = {}

    def show(self, progress: DownloadProgress) -> None:
        if progress.model not in self._tasks:
            self._tasks[progress.model] = self._bars.add_task(progress.model)
        self._bars.update(self._tasks[progress.model], completed=progress.done, total=progress.total)

    def stop(self) -> None:
        self._bars.stop()


def _lines() -> ProgressCallback:
    announced: set[str] = set()

    def watch(progress: DownloadProgress) -> None:
        if progress.model not in announced:
            announced.add(progress.model)
            typer.echo(f"fetching {progress.model} ({progress.total / 1e6:.0f} MB) …", err=True)

    return watch

import asyncio
import base64
import os
import statistics
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import floor, sqrt
from pathlib import Path

from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.wiring import server_settings

# One root key for the whole run: the PostgreSQL database outlives the data dirs of its servers.
KEY = {"RETINUE_MASTER_KEY": base64.b64encode(os.urandom(32)).decode()}


def settings_of_run(folder: str, url: str) -> Settings:
    """Settings of an instance inside the benchmark's own process."""
    own = Settings(data_dir=Path(folder), database_url=url, master_key=Secret(KEY["RETINUE_MASTER_KEY"]))
    return server_settings(own, [("127.0.0.1", 8080)])


@dataclass(frozen=True)
class Figure:
    """One measured number and the most it should be; some are only told."""

    name: str
    value: float
    unit: str
    goal: float | None

    @property
    def is_good(self) -> bool:
        return self.goal is None or self.value <= self.goal

    @property
    def limit(self) -> str:
        return "" if self.goal is None else f"≤ {self.goal:g} {self.unit}"


def interval(ratios: list[float]) -> tuple[float, float]:
    """The 95 % interval of the median, by order statistics: it supposes no distribution."""
    ordered, count = sorted(ratios), len(ratios)
    lowest = max(0, floor(count / 2 - 1.96 * sqrt(count) / 2))
    return ordered[lowest], ordered[count - 1 - lowest]


@dataclass(frozen=True)
class Ratio:
    """What something costs us and what it costs at least, in microseconds of CPU, round by round."""

    name: str
    ours_us: list[float]
    bare_us: list[float]
    goal: float
    alarm: float

    @property
    def of_rounds(self) -> list[float]:
        return [ours / bare for ours, bare in zip(self.ours_us, self.bare_us, strict=True)]

    @property
    def median(self) -> float:
        return statistics.median(self.of_rounds)

    @property
    def interval(self) -> tuple[float, float]:
        return interval(self.of_rounds)


def tell(measure: Callable[[str, int], Awaitable[list[Figure]]], size: int) -> None:
    """One measurement by itself, of the size given on the command line or this one."""

    async def measured() -> list[Figure]:
        size_given = int(sys.argv[1]) if len(sys.argv) > 1 else size
        return await measure(os.environ.get("RETINUE_BENCH_DATABASE_URL", ""), size_given)

    for figure in asyncio.run(measured()):
        sys.stdout.write(f"{figure.name}: {figure.value:.4g} {figure.unit} {figure.limit}\n")

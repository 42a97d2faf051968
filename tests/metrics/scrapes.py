"""Reading the metrics, as Prometheus does."""

import shutil
import subprocess
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.client import Api

PROMTOOL = shutil.which("promtool")


class Scrape:
    """The samples of one scrape: `scrape["name", {"label": "value"}]` is the sum of those that match."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.samples = [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]

    def __getitem__(self, wanted: str | tuple[str, dict[str, Any]]) -> float:
        name, labels = (wanted, {}) if isinstance(wanted, str) else wanted
        return sum(
            sample.value
            for sample in self.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def labels(self, name: str, label: str) -> set[str]:
        return {sample.labels[label] for sample in self.samples if sample.name == name}


async def scrape(api: Api, **headers: str) -> Scrape:
    answer = await Api(api.app).get("/metrics", headers=headers or None)
    assert answer.status == 200, answer
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return Scrape(answer.body.decode())


def lint(*arguments: str, text: str = "") -> tuple[int, str]:
    """Return promtool's exit code and its complaints; it is silent about valid metrics."""
    assert PROMTOOL is not None
    done = subprocess.run(
        [PROMTOOL, *arguments], input=text, capture_output=True, text=True, timeout=30, check=False
    )
    return done.returncode, done.stdout + done.stderr

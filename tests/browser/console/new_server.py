"""A server as somebody starts it for the first time."""

import re
from pathlib import Path

from tests.e2e.processes import ServerProcess
from tests.factories.weights import fetch_weights


class NewServer(ServerProcess):
    """`retinue serve` on an empty folder; `link` is what it prints."""

    def __init__(self, folder: Path, **env: str) -> None:
        super().__init__(folder, RETINUE_MODELS_DIR=str(fetch_weights()), **env)
        self.env.pop("RETINUE_ADMIN_PASSWORD")
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def printed(self) -> str:
        return self._log.read_text()

    @property
    def link(self) -> str:
        return re.findall(r"\(the link works once\): (\S+)", self.printed)[-1]

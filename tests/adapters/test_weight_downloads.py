"""Fetching weights: the progress is looked at while pip works in the same folder."""

import os
import shutil
from pathlib import Path

from retinue.adapters.embedded.weights_download import _size_of


def test_a_folder_that_goes_while_it_is_looked_at_counts_for_nothing(tmp_path: Path, monkeypatch):
    """Pip removes its own folder when a download is complete."""
    (tmp_path / "a.whl").write_bytes(b"x" * 5)
    unpacked = tmp_path / "pip-unpack"
    unpacked.mkdir()
    (unpacked / "part").write_bytes(b"x" * 7)
    assert _size_of(tmp_path) == 12
    scandir = os.scandir

    def lose(folder):
        if str(folder) == str(unpacked):
            shutil.rmtree(unpacked)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", lose)
    assert _size_of(tmp_path) == 5

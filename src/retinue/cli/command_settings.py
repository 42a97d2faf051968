"""The settings of a command, from its environment and `.env`."""

import os
from pathlib import Path

import typer

from retinue.kit.setting_loader import load_settings
from retinue.kit.settings import Settings


def read_settings(**changed: str) -> Settings:
    """Return the settings of this process; an invalid one ends it before anything is opened."""
    settings, warnings = load_settings({**os.environ, **changed}, Path(".env"))
    for warning in warnings:
        typer.echo(f"retinue: {warning}", err=True)
    return settings

"""Reading of the settings from the environment and a `.env` file, once at startup."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from retinue.kit.json_types import JsonObject
from retinue.kit.settings import BadSetting, Settings


def _setting_fields() -> list[Any]:
    """Return the fields that an environment variable sets."""
    return [spec for spec in fields(Settings) if "variable" in spec.metadata]


@dataclass(frozen=True)
class SettingDoc:
    variable: str
    default: str
    meaning: str


def list_documented_settings() -> list[SettingDoc]:
    """Return every setting as listed on the reference page."""
    rows = []
    for spec in _setting_fields():
        default = spec.metadata["shown"] or f"`{spec.default}`"
        rows.append(SettingDoc(spec.metadata["variable"], default, spec.metadata["meaning"]))
    return rows


def load_settings(environment: Mapping[str, str], dotenv: Path | None = None) -> tuple[Settings, list[str]]:
    """Return the settings, and a warning for each unknown `RETINUE_*` variable."""
    values = {**(_read_dotenv(dotenv) if dotenv else {}), **environment}
    for variable in ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"):
        if variable.lower() in values:
            values.setdefault(variable, values[variable.lower()])
    known = {spec.metadata["variable"]: spec for spec in _setting_fields()}
    chosen: JsonObject = {}
    for variable, spec in known.items():
        if variable not in values:
            continue
        try:
            chosen[spec.name] = spec.metadata["parse"](values[variable])
        except ValueError as error:
            raise BadSetting(f"{variable} {error}") from error
    return Settings(**chosen), _warnings(values, list(known))


def _warnings(values: Mapping[str, str], known: list[str]) -> list[str]:
    warnings = []
    for variable in sorted(values):
        if not variable.startswith("RETINUE_") or variable in known or variable.startswith("RETINUE_TEST_"):
            continue
        nearest = difflib.get_close_matches(variable, known, n=1, cutoff=0)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        warnings.append(f"unknown setting {variable}{hint}")
    return warnings


def _read_dotenv(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    values = {}
    for line in path.read_text().splitlines():
        stripped = line.strip().removeprefix("export ")
        if not stripped or stripped.startswith("#") or "=" not in stripped:
            continue
        name, _, value = stripped.partition("=")
        values[name.strip()] = value.strip().strip("'\"")
    return values

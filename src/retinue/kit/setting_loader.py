"""Reading of the settings from the environment and a `.env` file, once at startup."""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from retinue.kit.json_types import JsonObject
from retinue.kit.settings import BadSetting, Settings

_FILE_SUFFIX = "_FILE"
_MAX_VALUE_BYTES = 64 * 1024


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
    known = {spec.metadata["variable"]: spec for spec in _setting_fields()}
    in_dotenv = _read_dotenv(dotenv) if dotenv else {}
    values = {**_with_files(in_dotenv, known), **_with_files(environment, known)}
    for variable in ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"):
        if variable.lower() in values:
            values.setdefault(variable, values[variable.lower()])
    chosen: JsonObject = {}
    for variable, spec in known.items():
        if variable not in values:
            continue
        try:
            chosen[spec.name] = spec.metadata["parse"](values[variable])
        except ValueError as error:
            raise BadSetting(f"{variable} {error}") from error
    return Settings(**chosen), _warnings(values, list(known))


def _with_files(values: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
    """Return the values with those that stand in a file, such as a secret that a container mounts."""
    read = dict(values)
    for variable in known:
        name = f"{variable}{_FILE_SUFFIX}"
        if name not in values or not name.startswith("RETINUE_"):
            continue
        if variable in values:
            raise BadSetting(f"{name} is set together with {variable}; remove one of them")
        del read[name]
        read[variable] = _read_value(name, Path(values[name]))
    return read


def _read_value(name: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_VALUE_BYTES + 1)
        text = content.decode()
    except OSError as error:
        raise BadSetting(f"{name} names a file that cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadSetting(f"{name} names a file that is not UTF-8 text") from error
    if len(content) > _MAX_VALUE_BYTES:
        raise BadSetting(f"{name} names a file of more than {_MAX_VALUE_BYTES // 1024} KiB")
    if not text.strip():
        raise BadSetting(f"{name} names an empty file")
    return text.rstrip("\r\n")


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

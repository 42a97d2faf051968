"""Settings: read once, by the composition, from the environment and a `.env` file."""

import difflib
import functools
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from retinue.kit.secrets import Secret

LOOPBACK = ("localhost", "127.0.0.0/8", "::1")


class BadSetting(ValueError):
    """A setting that cannot be used; the message names the variable."""


def _choice(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text

    return parse


def _switch(text: str) -> bool:
    lowered = text.lower()
    if lowered in {"1", "on", "true", "yes"}:
        return True
    if lowered in {"0", "off", "false", "no", ""}:
        return False
    raise ValueError("must be on or off")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in _words(text))


def _cost(text: str) -> tuple[int, ...]:
    numbers = _numbers(text)
    if len(numbers) != 3 or min(numbers) < 1:
        raise ValueError("must be three whole numbers: memory in KiB, passes, lanes")
    return numbers


def _address(text: str) -> str:
    parts = urlsplit(text)
    if text and (
        parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment
    ):
        raise ValueError("must be an address such as https://retinue.example.com")
    return text


def _networks(text: str) -> tuple[str, ...]:
    for word in _words(text):
        ipaddress.ip_network(word, strict=False)
    return _words(text)


def _mailbox(text: str) -> str:
    local, at, domain = text.strip().partition("@")
    if not local or not at or "." not in domain:
        raise ValueError("must be a mail address")
    return text.strip()


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def _setting(
    variable: str, default: Any, meaning: str, parse: Callable[[str], Any] = str, shown: str = ""
) -> Any:
    """`shown` is the default as the documentation writes it, where it is worked out at start."""
    metadata = {"variable": variable, "meaning": meaning, "parse": parse, "shown": shown}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Settings:
    data_dir: Path = _setting(
        "RETINUE_DATA_DIR", Path("data"), "database file, files, keys, local mail, scripts", Path, "./data"
    )
    database_url: str = _setting(
        "RETINUE_DATABASE_URL", "", "`postgresql://…` for production", str, "SQLite in the data dir"
    )
    redis_url: str = _setting(
        "RETINUE_REDIS_URL", "", "shared limits and wake-ups for several processes", str, "none"
    )
    base_url: str = _setting(
        "RETINUE_BASE_URL",
        "",
        "public address; every link comes from it, never from a header",
        _address,
        "the address `serve` binds",
    )
    admin_email: str = _setting(
        "RETINUE_ADMIN_EMAIL", "admin@example.com", "first super_admin, first start only", _mailbox
    )
    admin_password: Secret | None = _setting(
        "RETINUE_ADMIN_PASSWORD",
        None,
        "its password, first start only",
        Secret,
        "generated and printed once",
    )
    master_key: Secret | None = _setting(
        "RETINUE_MASTER_KEY",
        None,
        "root key, 32 bytes base64; known sample values are refused",
        Secret,
        "generated into a 0600 file in the data dir",
    )
    signup: str = _setting(
        "RETINUE_SIGNUP",
        "open",
        "`open` (joins the default tenant), `tenant` (each registration makes its own tenant), `off`",
        _choice("open", "tenant", "off"),
    )
    require_verified_email: bool = _setting(
        "RETINUE_REQUIRE_VERIFIED_EMAIL", False, "refuse logins until the address is verified", _switch, "off"
    )
    hide_accounts: bool = _setting(
        "RETINUE_HIDE_ACCOUNTS",
        False,
        "registering a taken address looks like any other registration",
        _switch,
        "off",
    )
    default_plan: str = _setting(
        "RETINUE_DEFAULT_PLAN",
        "enterprise",
        "plan of new tenants: `free`, `pro`, `team`, `enterprise`",
        _choice("free", "pro", "team", "enterprise"),
    )
    burst: bool = _setting(
        "RETINUE_BURST", True, "whether plans may burst over their minute limit", _switch, "on"
    )
    egress_allow: tuple[str, ...] | None = _setting(
        "RETINUE_EGRESS_ALLOW",
        None,
        "hosts, host:port or CIDRs that outgoing calls may reach although private or plain http",
        _words,
        "loopback while the base URL is a loopback address, otherwise empty",
    )
    trusted_proxies: tuple[str, ...] = _setting(
        "RETINUE_TRUSTED_PROXIES", (), "addresses or CIDRs whose `X-Forwarded-For` counts", _networks, "empty"
    )
    smtp_url: Secret | None = _setting(
        "RETINUE_SMTP_URL",
        None,
        "`smtp://user:pass@host:port` or `smtps://…`; unset: mails become files in the data dir's `outbox`",
        Secret,
        "none",
    )
    mail_from: str = _setting("RETINUE_MAIL_FROM", "", "sender", str, "`retinue@<host of base url>`")
    webhook_retry_schedule: tuple[int, ...] = _setting(
        "RETINUE_WEBHOOK_RETRY_SCHEDULE",
        (0, 60, 300, 1800, 7200, 28800, 86400),
        "seconds before each attempt",
        _numbers,
        "`0,60,300,1800,7200,28800,86400`",
    )
    default_model: str = _setting(
        "RETINUE_DEFAULT_MODEL", "", "`provider/model` for chat", str, "the embedded one"
    )
    embedding_model: str = _setting(
        "RETINUE_EMBEDDING_MODEL", "", "`provider/model` for embeddings", str, "the embedded one"
    )
    stt_model: str = _setting(
        "RETINUE_STT_MODEL", "", "`provider/model` for speech to text", str, "the embedded one"
    )
    tts_model: str = _setting(
        "RETINUE_TTS_MODEL", "", "`provider/model` for text to speech", str, "the embedded one"
    )
    searxng_url: str = _setting("RETINUE_SEARXNG_URL", "", "default web search backend", _address, "none")
    local_model: str = _setting(
        "RETINUE_LOCAL_MODEL", "", "path of a GGUF file for the embedded runtime", str, "SmolLM2-135M"
    )
    models_dir: Path | None = _setting(
        "RETINUE_MODELS_DIR",
        None,
        "weights of the embedded models; several instances may share it",
        Path,
        "`models` in the data dir",
    )
    cors_origins: tuple[str, ...] = _setting(
        "RETINUE_CORS_ORIGINS", (), "origins of other consoles", _words, "own base URL"
    )
    files_url: Secret | None = _setting(
        "RETINUE_FILES_URL",
        None,
        "`s3://<access key>:<secret key>@<host>/<bucket>` for object storage",
        Secret,
        "local folder",
    )
    failpoints: str = _setting("RETINUE_FAILPOINTS", "", "tests only", str, "none")
    worker: str = _setting("RETINUE_WORKER", "inline", "`inline` or `off`", _choice("inline", "off"))
    log_format: str = _setting(
        "RETINUE_LOG_FORMAT",
        "",
        "`text` or `json`",
        _choice("", "text", "json"),
        "text on a terminal, else json",
    )
    log_level: str = _setting(
        "RETINUE_LOG_LEVEL",
        "info",
        "`debug`, `info`, `warning` or `error`",
        _choice("debug", "info", "warning", "error"),
    )
    metrics: bool = _setting("RETINUE_METRICS", False, "Prometheus at `/metrics`", _switch, "off")
    password_cost: tuple[int, ...] = _setting(
        "RETINUE_PASSWORD_COST",
        (19456, 2, 1),
        "argon2id: memory in KiB, passes, lanes",
        _cost,
        "`19456,2,1`",
    )
    database_pool: int = _setting(
        "RETINUE_DATABASE_POOL", 10, "PostgreSQL connections a process may hold", _whole
    )

    @functools.cached_property
    def on_loopback(self) -> bool:
        """Whether the public address is this machine's own: a development instance."""
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def models_folder(self) -> Path:
        """Where the weights of the embedded models are."""
        return self.models_dir or self.data_dir / "models"

    def egress_allowed(self) -> tuple[str, ...]:
        if self.egress_allow is not None:
            return self.egress_allow
        return LOOPBACK if self.on_loopback else ()


@dataclass(frozen=True)
class SettingDoc:
    variable: str
    default: str
    meaning: str


def documented() -> list[SettingDoc]:
    """Every setting as the reference page lists it."""
    rows = []
    for spec in fields(Settings):
        default = spec.metadata["shown"] or f"`{spec.default}`"
        rows.append(SettingDoc(spec.metadata["variable"], default, spec.metadata["meaning"]))
    return rows


def load(environment: Mapping[str, str], dotenv: Path | None = None) -> tuple[Settings, list[str]]:
    """The settings, and a warning for each `RETINUE_*` variable nobody knows."""
    values = {**(_read_dotenv(dotenv) if dotenv else {}), **environment}
    known = {spec.metadata["variable"]: spec for spec in fields(Settings)}
    chosen: dict[str, Any] = {}
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

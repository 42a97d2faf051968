"""The settings of an instance; `setting_loader` reads them at startup."""

import functools
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from retinue.kit.network_addresses import unmap_ipv4
from retinue.kit.secrets import Secret
from retinue.kit.setting_values import (
    argon2_cost,
    boolean,
    choice,
    comma_separated,
    email_address,
    fraction,
    host_and_port,
    http_url,
    networks,
    numbers,
    pem_file,
    positive_integer,
    process_count,
    proxy_url,
    seconds_of_turn,
)
from retinue.kit.storage_settings import StorageSettings
from retinue.kit.storage_settings import setting as _setting

LOOPBACK = ("localhost", "127.0.0.0/8", "::1")
# Without a base URL, a worker cannot know who reaches the servers and assumes everybody.
ANY_ADDRESS = "0.0.0.0"  # noqa: S104  compared, not bound


class BadSetting(ValueError):
    """A setting is invalid; the message names the variable."""


@dataclass(frozen=True, kw_only=True)
class Settings(StorageSettings):
    base_url: str = _setting(
        "RETINUE_BASE_URL",
        "",
        "public address; every link comes from it, never from a header",
        http_url,
        "the address `serve` binds",
    )
    admin_email: str = _setting(
        "RETINUE_ADMIN_EMAIL", "admin@example.com", "first super_admin, first start only", email_address
    )
    admin_password: Secret | None = _setting(
        "RETINUE_ADMIN_PASSWORD",
        None,
        "its password, first start only",
        Secret,
        "generated and printed once",
    )
    client_id: str = _setting(
        "RETINUE_CLIENT_ID",
        "",
        "service account of `retinue export`, `plan` and `apply` with `--remote`",
        str,
        "none",
    )
    client_secret: Secret | None = _setting(
        "RETINUE_CLIENT_SECRET", None, "secret of that service account", Secret, "none"
    )
    master_key: Secret | None = _setting(
        "RETINUE_MASTER_KEY",
        None,
        "root key, 32 bytes base64; known sample values are refused",
        Secret,
        "generated into a 0600 file in the data dir",
    )
    signup: str | None = _setting(
        "RETINUE_SIGNUP",
        None,
        "`open` (joins the default tenant), `pending` (joins it once an administrator approves), "
        "`tenant` (each registration makes its own tenant), `off`",
        choice("open", "pending", "tenant", "off"),
        "`open` on a development instance, otherwise `pending`",
    )
    registrations_per_minute: int = _setting(
        "RETINUE_REGISTRATIONS_PER_MINUTE",
        60,
        "registrations from one address in a minute (IPv6: from one /64)",
        positive_integer,
    )
    registrations_per_hour: int = _setting(
        "RETINUE_REGISTRATIONS_PER_HOUR",
        600,
        "registrations from one address in an hour (IPv6: from one /64)",
        positive_integer,
    )
    require_verified_email: bool = _setting(
        "RETINUE_REQUIRE_VERIFIED_EMAIL",
        False,
        "refuse logins until the address is verified",
        boolean,
        "off",
    )
    hide_accounts: bool = _setting(
        "RETINUE_HIDE_ACCOUNTS",
        False,
        "registering a taken address looks like any other registration",
        boolean,
        "off",
    )
    default_plan: str = _setting(
        "RETINUE_DEFAULT_PLAN",
        "enterprise",
        "plan of new tenants: `free`, `pro`, `team`, `enterprise`",
        choice("free", "pro", "team", "enterprise"),
    )
    burst: bool = _setting(
        "RETINUE_BURST", True, "whether plans may burst over their minute limit", boolean, "on"
    )
    model_first_byte_seconds: int = _setting(
        "RETINUE_MODEL_FIRST_BYTE_SECONDS",
        120,
        "how long a model may take until its reply begins, unless the agent says otherwise",
        seconds_of_turn,
    )
    model_chunk_seconds: int = _setting(
        "RETINUE_MODEL_CHUNK_SECONDS",
        120,
        "how long a model may be silent within its reply, unless the agent says otherwise",
        seconds_of_turn,
    )
    turn_seconds: int = _setting(
        "RETINUE_TURN_SECONDS",
        600,
        "how long a turn may take with all its model and tool calls; an agent may say less",
        seconds_of_turn,
    )
    egress_allow: tuple[str, ...] | None = _setting(
        "RETINUE_EGRESS_ALLOW",
        None,
        "hosts, host:port or CIDRs that outgoing calls may reach although private or plain http",
        comma_separated,
        "loopback on a development instance, otherwise empty",
    )
    ca_bundle: Path | None = _setting(
        "RETINUE_CA_BUNDLE",
        None,
        "PEM file of authorities that outgoing https trusts in addition to the system's; "
        "`SSL_CERT_FILE` replaces the system's",
        pem_file,
        "none",
    )
    https_proxy: Secret | None = _setting(
        "HTTPS_PROXY",
        None,
        "`http://user:pass@host:port` of a proxy for calls to https destinations; lower case counts as well",
        proxy_url,
        "none",
    )
    http_proxy: Secret | None = _setting(
        "HTTP_PROXY", None, "the same for http destinations", proxy_url, "none"
    )
    no_proxy: tuple[str, ...] = _setting(
        "NO_PROXY",
        (),
        "names (with their subdomains), addresses and CIDRs called without a proxy; loopback always is",
        comma_separated,
        "empty",
    )
    proxy_resolves: bool = _setting(
        "RETINUE_PROXY_RESOLVES",
        False,
        "the proxy gets names instead of checked addresses: it alone then guards private addresses",
        boolean,
        "off",
    )
    trusted_proxies: tuple[str, ...] = _setting(
        "RETINUE_TRUSTED_PROXIES", (), "addresses or CIDRs whose `X-Forwarded-For` counts", networks, "empty"
    )
    smtp_url: Secret | None = _setting(
        "RETINUE_SMTP_URL",
        None,
        "`smtp://user:pass@host:port` or `smtps://…`; unset: mails become files in the data dir's `outbox`",
        Secret,
        "none",
    )
    mail_from: str = _setting(
        "RETINUE_MAIL_FROM", "", "sender: an address or `Name <address>`", str, "`retinue@<host of base url>`"
    )
    webhook_retry_schedule: tuple[int, ...] = _setting(
        "RETINUE_WEBHOOK_RETRY_SCHEDULE",
        (0, 60, 300, 1800, 7200, 28800, 86400),
        "seconds before each attempt",
        numbers,
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
    searxng_url: str = _setting("RETINUE_SEARXNG_URL", "", "default web search backend", http_url, "none")
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
        "RETINUE_CORS_ORIGINS", (), "origins of other consoles", comma_separated, "own base URL"
    )
    form_upload_quota: int = _setting(
        "RETINUE_FORM_UPLOAD_QUOTA",
        1024**3,
        "bytes of files that one form takes from the public within 24 hours",
        positive_integer,
        "`1073741824` (1 GiB)",
    )
    failpoints: str = _setting("RETINUE_FAILPOINTS", "", "tests only", str, "none")
    worker: str = _setting("RETINUE_WORKER", "inline", "`inline` or `off`", choice("inline", "off"))
    processes: int = _setting(
        "RETINUE_PROCESSES",
        1,
        "processes of `serve` on this machine; `auto`: one for each core",
        process_count,
    )
    shutdown_grace: int = _setting(
        "RETINUE_SHUTDOWN_GRACE",
        10,
        "seconds that replies, other requests and jobs have to finish when the server stops",
        positive_integer,
    )
    log_format: str = _setting(
        "RETINUE_LOG_FORMAT",
        "",
        "`text` or `json`",
        choice("", "text", "json"),
        "text on a terminal, else json",
    )
    log_level: str = _setting(
        "RETINUE_LOG_LEVEL",
        "info",
        "`debug`, `info`, `warning` or `error`",
        choice("debug", "info", "warning", "error"),
    )
    metrics: bool = _setting("RETINUE_METRICS", False, "Prometheus at `/metrics`", boolean, "off")
    metrics_token: Secret | None = _setting(
        "RETINUE_METRICS_TOKEN",
        None,
        "Only who sends this text as a bearer token may read `/metrics`",
        Secret,
        "everybody may",
    )
    traces: bool = _setting(
        "RETINUE_TRACES", True, "store traces of turns, runs and deliveries", boolean, "on"
    )
    trace_sample: float = _setting(
        "RETINUE_TRACE_SAMPLE",
        1.0,
        "share of traces to keep; errors and the slowest are always kept",
        fraction,
    )
    trace_retention_days: int = _setting(
        "RETINUE_TRACE_RETENTION_DAYS",
        30,
        "traces are deleted after this time at the latest",
        positive_integer,
    )
    trace_to_providers: bool = _setting(
        "RETINUE_TRACE_TO_PROVIDERS",
        False,
        "send `traceparent` to model and search providers",
        boolean,
        "off",
    )
    otlp_endpoint: str = _setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT", "", "OTLP/HTTP receiver of every tenant's traces", http_url, "none"
    )
    otlp_headers: Secret | None = _setting(
        "OTEL_EXPORTER_OTLP_HEADERS", None, "headers for that receiver: `name=value,…`", Secret, "none"
    )
    otlp_protocol: str = _setting(
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "http/protobuf",
        "`http/protobuf` or `http/json`",
        choice("http/protobuf", "http/json"),
    )
    otel_service_name: str = _setting("OTEL_SERVICE_NAME", "retinue", "`service.name` of exported traces")
    otel_resource_attributes: str = _setting(
        "OTEL_RESOURCE_ATTRIBUTES", "", "attributes of every exported trace: `name=value,…`", str, "none"
    )
    metrics_address: tuple[str, int] | None = _setting(
        "RETINUE_METRICS_ADDRESS",
        None,
        "`host:port` at which a separate worker serves `/metrics`, `/health/live` and `/health/ready`",
        host_and_port,
        "none",
    )
    access_log: bool = _setting(
        "RETINUE_ACCESS_LOG", False, "one line in the log for each request", boolean, "off"
    )
    password_cost: tuple[int, ...] = _setting(
        "RETINUE_PASSWORD_COST",
        (19456, 2, 1),
        "argon2id: memory in KiB, passes, lanes",
        argon2_cost,
        "`19456,2,1`",
    )
    is_worker_in_first_process: bool = False
    """Whether another process of this `serve` runs the background jobs."""

    # Set after the server has bound its sockets; empty in a process without a server.
    bound_hosts: tuple[str, ...] = ()
    bound_ports: tuple[int, ...] = ()

    @functools.cached_property
    def is_development(self) -> bool:
        """Return whether only this machine can reach the instance; several defaults are then less strict."""
        hosts = (urlsplit(self.base_url).hostname or "", *self.bound_hosts)
        return not self.trusted_proxies and all(is_loopback(host) for host in hosts)

    @property
    def models_folder(self) -> Path:
        """Return the folder with the weights of the embedded models."""
        return self.models_dir or self.data_dir / "models"

    @property
    def redis_authorities(self) -> Path | None:
        """Return the file of authorities that Redis's certificate may come from besides the system's."""
        return self.redis_ca_bundle or self.ca_bundle

    def egress_allowed(self) -> tuple[str, ...]:
        if self.egress_allow is not None:
            return self.egress_allow
        return LOOPBACK if self.is_development else ()

    def signup_policy(self) -> str:
        """Return the effective policy for registration without an invitation."""
        return self.signup or ("open" if self.is_development else "pending")


def is_loopback(host: str) -> bool:
    """Return whether a host name or address, brackets included, is this machine's own."""
    if host.lower() == "localhost":
        return True
    try:
        return unmap_ipv4(ipaddress.ip_address(host.strip("[]"))).is_loopback
    except ValueError:
        return False

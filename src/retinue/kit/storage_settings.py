"""Settings of what keeps the data: the database, Redis and the files."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retinue.kit.limits.redis_url import redis_url
from retinue.kit.secrets import Secret
from retinue.kit.setting_values import choice, pem_file, positive_integer


def setting(
    variable: str, default: object, meaning: str, parse: Callable[[str], Any] = str, shown: str = ""
) -> Any:
    """Declare a setting; `shown` documents a default that is computed at startup."""
    metadata = {"variable": variable, "meaning": meaning, "parse": parse, "shown": shown}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class StorageSettings:
    data_dir: Path = setting(
        "RETINUE_DATA_DIR", Path("data"), "database file, files, keys, local mail, scripts", Path, "./data"
    )
    database_url: str = setting(
        "RETINUE_DATABASE_URL", "", "`postgresql://…` for production", str, "SQLite in the data dir"
    )
    database_direct_url: str = setting(
        "RETINUE_DATABASE_DIRECT_URL",
        "",
        "`postgresql://…` of the server itself if `RETINUE_DATABASE_URL` names a pooler such as PgBouncer; "
        "migrations, backups and notifications of new work use it",
        str,
        "`RETINUE_DATABASE_URL`",
    )
    database_prepared_statements: str = setting(
        "RETINUE_DATABASE_PREPARED_STATEMENTS",
        "auto",
        "`auto` (prepare statements unless a pooler is found), `on` (for a pooler that keeps them: PgBouncer "
        "from 1.21 with `max_prepared_statements`), `off`",
        choice("auto", "on", "off"),
    )
    database_pool: int = setting(
        "RETINUE_DATABASE_POOL", 10, "PostgreSQL connections a process may hold", positive_integer
    )
    redis_url: str = setting(
        "RETINUE_REDIS_URL",
        "",
        "limits shared by several processes: `redis://…`, `rediss://…` for TLS, "
        "`redis+sentinel://host:port,host:port/service/db` or `rediss+sentinel://…`",
        redis_url,
        "none",
    )
    redis_ca_bundle: Path | None = setting(
        "RETINUE_REDIS_CA_BUNDLE",
        None,
        "PEM file of authorities that `rediss` URLs trust in addition to the system's",
        pem_file,
        "`RETINUE_CA_BUNDLE`",
    )
    files_url: Secret | None = setting(
        "RETINUE_FILES_URL",
        None,
        "`s3://<access key>:<secret key>@<host>/<bucket>` for object storage",
        Secret,
        "local folder",
    )
    aws_role_arn: str = setting(
        "AWS_ROLE_ARN", "", "role of `credentials=web_identity` in the files URL; EKS sets it", str, "none"
    )
    aws_web_identity_token_file: Path | None = setting(
        "AWS_WEB_IDENTITY_TOKEN_FILE", None, "its token; EKS sets it", Path, "none"
    )
    aws_container_full_uri: str = setting(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "",
        "where `credentials=container` in the files URL fetches keys; ECS and EKS set it",
        str,
        "none",
    )
    aws_container_uri: str = setting(
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "", "the same as a path at ECS's own address", str, "none"
    )
    aws_container_token_file: Path | None = setting(
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", None, "token to show there; EKS sets it", Path, "none"
    )

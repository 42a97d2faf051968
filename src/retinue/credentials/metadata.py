"""The metadata of a credential: any JSON, stored in clear. Four keys have a meaning.

`test_url` is called to test the credential, and `header_name` is the header that an API key is sent in there;
`db_type` is the type of its database; `allowed_hosts` are further destinations of its secrets.
"""

import msgspec

from retinue.adapters.databases import find_db_type
from retinue.credentials.kinds import depth
from retinue.kit.context import Context
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.configs import parse_config
from retinue.kit.text.redaction import Redactor

DATABASE_PORTS = {"postgresql": 5432, "mysql": 3306}

_MAX_METADATA_BYTES = 16 * 1024
_MAX_DEPTH = 8
# Shorter values would also be found in ordinary words.
_MIN_SECRET_LENGTH = 8


class KnownMetadata(msgspec.Struct, kw_only=True):
    test_url: str | None = None
    header_name: str | None = None
    db_type: str | None = None
    allowed_hosts: list[str] | None = None


def known(metadata: JsonObject) -> KnownMetadata:
    return parse_config(metadata, KnownMetadata, "metadata")


def validate_metadata(ctx: Context, metadata: JsonObject) -> None:
    """Raise `Invalid` for metadata beyond the limits or with invalid known keys."""
    if len(msgspec.json.encode(metadata)) > _MAX_METADATA_BYTES or depth(metadata) > _MAX_DEPTH:
        raise Invalid(
            {"metadata": f"must be at most {_MAX_METADATA_BYTES // 1024} KiB and {_MAX_DEPTH} levels deep"}
        )
    parsed = known(metadata)
    if parsed.db_type is not None and find_db_type(parsed.db_type) not in DATABASE_PORTS:
        raise Invalid({"metadata.db_type": f"must be {' or '.join(DATABASE_PORTS)}"})
    _check_addresses(ctx.adapter(Egress), parsed)


def _check_addresses(egress: Egress, parsed: KnownMetadata) -> None:
    field = "test_url"
    try:
        if parsed.test_url is not None:
            egress.check(parsed.test_url, require_https=True)
        field = "header_name"
        if parsed.header_name is not None:
            check_custom_headers({parsed.header_name: ""})
        for index, host in enumerate(parsed.allowed_hosts or ()):
            field = f"allowed_hosts.{index}"
            egress.check(host_to_url(host))
    except EgressRefused as refusal:
        raise Invalid({f"metadata.{field}": refusal.message}) from None


def host_to_url(host: str) -> str:
    """Return the URL of an allowed host, which is a URL already or a host to reach by https."""
    return host if "://" in host else f"https://{host}"


def refuse_secrets(hidden: list[str], shown: JsonObject) -> None:
    """Raise `Invalid` for public fields that contain a secret."""
    redactor = Redactor(value for value in hidden if len(value) >= _MIN_SECRET_LENGTH)
    leaking = [name for name, value in shown.items() if redactor.value(value) != value]
    if leaking:
        raise Invalid(dict.fromkeys(leaking, "must not contain a secret of this credential"))

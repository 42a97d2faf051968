"""What stands beside a credential's secrets: anything, in the clear; four keys of it mean something to us.

`test_url` is asked when the credential is tested, and `header_name` says in which header a key is sent there;
`db_type` says what kind of database it is for; `allowed_hosts` are further places its secrets may be sent to.
"""

from typing import Any

import msgspec

from retinue.adapters.databases import find_db_type
from retinue.credentials.kinds import depth
from retinue.kit.context import Context
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers
from retinue.kit.errors import Invalid
from retinue.kit.redaction import Redactor
from retinue.kit.validation import field_errors

DATABASE_PORTS = {"postgresql": 5432, "mysql": 3306}

_MOST_BYTES = 16 * 1024
_DEEPEST = 8
# Shorter values are no secrets that anyone could recognize, and would be found in ordinary words.
_SHORTEST_SECRET = 8


class Known(msgspec.Struct, kw_only=True):
    test_url: str | None = None
    header_name: str | None = None
    db_type: str | None = None
    allowed_hosts: list[str] | None = None


def known(metadata: dict[str, Any]) -> Known:
    return msgspec.convert(metadata, Known)


def check(ctx: Context, metadata: dict[str, Any]) -> None:
    """Refuse metadata that is too much, or whose known keys could not be used."""
    if len(msgspec.json.encode(metadata)) > _MOST_BYTES or depth(metadata) > _DEEPEST:
        raise Invalid({"metadata": f"must be at most {_MOST_BYTES // 1024} KiB and {_DEEPEST} levels deep"})
    try:
        found = known(metadata)
    except msgspec.ValidationError as error:
        problems = field_errors(error, metadata, Known)
        raise Invalid({f"metadata.{path}": message for path, message in problems.items()}) from None
    if found.db_type is not None and find_db_type(found.db_type) not in DATABASE_PORTS:
        raise Invalid({"metadata.db_type": f"must be {' or '.join(DATABASE_PORTS)}"})
    _check_addresses(ctx.adapter(Egress), found)


def _check_addresses(egress: Egress, found: Known) -> None:
    field = "test_url"
    try:
        if found.test_url is not None:
            egress.check(found.test_url, require_https=True)
        field = "header_name"
        if found.header_name is not None:
            check_custom_headers({found.header_name: ""})
        for index, host in enumerate(found.allowed_hosts or ()):
            field = f"allowed_hosts.{index}"
            egress.check(as_url(host))
    except EgressRefused as refusal:
        raise Invalid({f"metadata.{field}": refusal.message}) from None


def as_url(host: str) -> str:
    """An allowed host is a URL, or a host with or without a port that is reached by https."""
    return host if "://" in host else f"https://{host}"


def refuse_secrets(hidden: list[str], shown: dict[str, Any]) -> None:
    """Refuse what everybody may read when it repeats a secret, by the name of the field."""
    redactor = Redactor(value for value in hidden if len(value) >= _SHORTEST_SECRET)
    found = [name for name, value in shown.items() if redactor.value(value) != value]
    if found:
        raise Invalid(dict.fromkeys(found, "repeats a secret of this credential, which would show it"))

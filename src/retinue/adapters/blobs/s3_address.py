"""The setting `s3://<access key>:<secret key>@<host>[:<port>]/<bucket>[/<prefix>][?region=…&tls=off]`.

AWS's host is `s3.<region>.amazonaws.com`; the bucket is always in the path. Temporary keys have a
`session_token`. Without keys, `credentials` names the role of the process (`s3_roles.py`).
"""

import re
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec

from retinue.adapters.aws_signing import AwsKeys
from retinue.kit.egress import EgressRefused, read_destination
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting

_URL_FORM = "s3://<access key>:<secret key>@<host>/<bucket>"
_OPTIONS = {"region", "tls", "session_token", "credentials", "key_service"}
_ROLES = {"instance", "container", "web_identity"}
_REGION_IN_HOST = re.compile(r"s3[.-](?:dualstack\.)?([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_REGION = re.compile(r"[a-z0-9-]{1,64}")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_PREFIX = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*")


class S3Address(msgspec.Struct, frozen=True, kw_only=True):
    """A bucket; `home` is its path-style address, `prefix` is empty or ends with a slash.

    It has `keys`, or `credentials` that name a role. `key_service` replaces the address of the service that
    issues the keys of the role.
    """

    home: str
    host: str
    port: int
    prefix: str
    region: str
    keys: AwsKeys | None = None
    credentials: str = ""
    key_service: str = ""


def parse_s3_url(url: Secret) -> S3Address:
    """Parse the setting; errors never quote it, because it contains a secret."""
    try:
        parts = urlsplit(url.reveal())
        host, port = parts.hostname or "", parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise _bad_setting(f"must look like {_URL_FORM}") from None
    if parts.scheme != "s3" or not host or parts.fragment:
        raise _bad_setting(f"must look like {_URL_FORM}")
    if unknown := options.keys() - _OPTIONS:
        raise _bad_setting(f"has the unknown option {min(unknown)}; known are {', '.join(sorted(_OPTIONS))}")
    bucket, _, rest = parts.path.removeprefix("/").partition("/")
    prefix = f"{rest.strip('/')}/" if rest.strip("/") else ""
    if not _BUCKET.fullmatch(bucket) or not _PREFIX.fullmatch(prefix):
        raise _bad_setting("needs a bucket and an optional prefix of letters, digits, '.', '_' and '-'")
    is_plain = _is_plain_http(options.get("tls", "on"))
    host_text = f"[{host}]" if ":" in host else host
    authority = host_text if port is None else f"{host_text}:{port}"
    return S3Address(
        home=f"{'http' if is_plain else 'https'}://{authority}/{bucket}",
        host=host_text,
        port=port or (80 if is_plain else 443),
        prefix=prefix,
        region=_region(host, options.get("region")),
        keys=_keys(parts, options),
        credentials=options.get("credentials", ""),
        key_service=_key_service(options.get("key_service", "")),
    )


def _keys(parts: SplitResult, options: dict[str, str]) -> AwsKeys | None:
    if role := options.get("credentials"):
        if role not in _ROLES:
            raise _bad_setting(f"accepts credentials={', '.join(sorted(_ROLES))}")
        if parts.username or parts.password or "session_token" in options:
            raise _bad_setting("has keys and credentials; remove one of them")
        return None
    if not parts.username or not parts.password:
        raise _bad_setting(
            f"must contain an access key and a secret key: {_URL_FORM}; write / in a key as %2F. "
            "Without keys, name a role such as credentials=instance"
        )
    token = options.get("session_token")
    return AwsKeys(unquote(parts.username), Secret(unquote(parts.password)), Secret(token) if token else None)


def _key_service(url: str) -> str:
    try:
        return url and read_destination(url).url
    except EgressRefused:
        raise _bad_setting("accepts a key_service such as https://sts.example.com/") from None


def _is_plain_http(tls: str) -> bool:
    if tls not in {"on", "off"}:
        raise _bad_setting("accepts tls=on or tls=off")
    return tls == "off"


def _region(host: str, region: str | None) -> str:
    if region is not None:
        if not _REGION.fullmatch(region):
            raise _bad_setting("accepts a region such as eu-central-1")
        return region
    match = _REGION_IN_HOST.fullmatch(host)
    return match[1] if match else "us-east-1"


def _bad_setting(problem: str) -> BadSetting:
    return BadSetting(f"RETINUE_FILES_URL {problem}")

"""The setting `s3://<access key>:<secret key>@<host>[:<port>]/<bucket>[/<prefix>][?region=…&tls=off]`.

AWS's host is `s3.<region>.amazonaws.com`; the bucket is always in the path.
"""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from retinue.adapters.aws_signing import AwsKeys
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting

_URL_FORM = "s3://<access key>:<secret key>@<host>/<bucket>"
_OPTIONS = {"region", "tls"}
_REGION_IN_HOST = re.compile(r"s3[.-](?:dualstack\.)?([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_REGION = re.compile(r"[a-z0-9-]{1,64}")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_PREFIX = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*")


class S3Address(msgspec.Struct, frozen=True, kw_only=True):
    """A bucket; `home` is its path-style address, `prefix` is empty or ends with a slash."""

    home: str
    host: str
    port: int
    prefix: str
    region: str
    keys: AwsKeys


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
    if not parts.username or not parts.password:
        raise _bad_setting(
            f"must contain an access key and a secret key: {_URL_FORM}; write / in a key as %2F"
        )
    if unknown := options.keys() - _OPTIONS:
        raise _bad_setting(f"has the unknown option {min(unknown)}; use region or tls")
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
        keys=AwsKeys(unquote(parts.username), Secret(unquote(parts.password))),
    )


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

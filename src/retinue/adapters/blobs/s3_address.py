"""`s3://<access key>:<secret key>@<host>[:<port>]/<bucket>[/<prefix>][?region=…&tls=off]`, as it is set.

The address of AWS itself is `s3.<region>.amazonaws.com`; buckets are named in the path everywhere.
"""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from retinue.adapters.aws_signing import AwsKeys
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting

_FORM = "s3://<access key>:<secret key>@<host>/<bucket>"
_OPTIONS = {"region", "tls"}
_REGION_IN_HOST = re.compile(r"s3[.-](?:dualstack\.)?([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_REGION = re.compile(r"[a-z0-9-]{1,64}")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_PREFIX = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*")


class S3Address(msgspec.Struct, frozen=True, kw_only=True):
    """`home` is the address of the bucket, written path-style; `prefix` is empty or ends with a slash."""

    home: str
    host: str
    port: int
    prefix: str
    region: str
    keys: AwsKeys


def read_address(url: Secret) -> S3Address:
    """Whatever is wrong is said without the text itself, which holds a secret."""
    try:
        parts = urlsplit(url.reveal())
        host, port = parts.hostname or "", parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise _bad(f"must look like {_FORM}") from None
    if parts.scheme != "s3" or not host or parts.fragment:
        raise _bad(f"must look like {_FORM}")
    if not parts.username or not parts.password:
        raise _bad(f"needs an access key and a secret key: {_FORM}; write / in a key as %2F")
    if unknown := options.keys() - _OPTIONS:
        raise _bad(f"does not know the option {min(unknown)}; it takes region and tls")
    bucket, _, rest = parts.path.removeprefix("/").partition("/")
    prefix = f"{rest.strip('/')}/" if rest.strip("/") else ""
    if not _BUCKET.fullmatch(bucket) or not _PREFIX.fullmatch(prefix):
        raise _bad("needs a bucket, and may have a prefix, of letters, digits, '.', '_' and '-'")
    is_plain = _is_plain(options.get("tls", "on"))
    shown = f"[{host}]" if ":" in host else host
    authority = shown if port is None else f"{shown}:{port}"
    return S3Address(
        home=f"{'http' if is_plain else 'https'}://{authority}/{bucket}",
        host=shown,
        port=port or (80 if is_plain else 443),
        prefix=prefix,
        region=_region(host, options.get("region")),
        keys=AwsKeys(unquote(parts.username), Secret(unquote(parts.password))),
    )


def _is_plain(tls: str) -> bool:
    if tls not in {"on", "off"}:
        raise _bad("takes tls=on or tls=off")
    return tls == "off"


def _region(host: str, given: str | None) -> str:
    if given is not None:
        if not _REGION.fullmatch(given):
            raise _bad("takes a region such as eu-central-1")
        return given
    known = _REGION_IN_HOST.fullmatch(host)
    return known[1] if known else "us-east-1"


def _bad(why: str) -> BadSetting:
    return BadSetting(f"RETINUE_FILES_URL {why}")

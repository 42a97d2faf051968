"""AWS Signature Version 4, as object storage and the services of AWS check it: pure, nothing is sent."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec

from retinue.kit.egress import read_destination
from retinue.kit.secrets import Secret

UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"
EMPTY_PAYLOAD = hashlib.sha256().hexdigest()

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNRESERVED = "-_.~"


class AwsKeys(msgspec.Struct, frozen=True):
    """What AWS knows a caller by; temporary keys come with a session token."""

    access_key_id: str
    secret_access_key: Secret
    session_token: Secret | None = None


def payload_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sign(
    method: str,
    url: str,
    headers: Mapping[str, str],
    payload_hash: str,
    region: str,
    service: str,
    keys: AwsKeys,
    now: float,
) -> dict[str, str]:
    """The headers to send, with the signature among them; `url` is percent-encoded as it will be sent.

    `now` is Unix time. `host` is signed but not returned: the way out sets it from the URL.
    """
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    sent = {**headers, "x-amz-date": moment}
    if service == "s3":
        sent["x-amz-content-sha256"] = payload_hash
    if keys.session_token is not None:
        sent["x-amz-security-token"] = keys.session_token.reveal()
    signed = {"host": read_destination(url).authority} | {
        name.lower(): " ".join(value.split()) for name, value in sent.items()
    }
    names = ";".join(sorted(signed))
    request = _canonical_request(method, url, signed, names, payload_hash, service)
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    text = "\n".join((_ALGORITHM, moment, scope, hashlib.sha256(request.encode()).hexdigest()))
    signature = hmac.new(_signing_key(keys, scope), text.encode(), hashlib.sha256).hexdigest()
    return {
        **sent,
        "Authorization": f"{_ALGORITHM} Credential={keys.access_key_id}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}",
    }


def _canonical_request(
    method: str, url: str, signed: Mapping[str, str], names: str, payload_hash: str, service: str
) -> str:
    parts = urlsplit(url)
    path = parts.path or "/"
    # S3 alone takes the path as it is sent; every other service encodes it once more.
    path = path if service == "s3" else quote(path, safe=f"/{_UNRESERVED}")
    # Sorted after encoding; a plus is a plus here, not a blank.
    pairs = parse_qsl(parts.query.replace("+", "%2B"), keep_blank_values=True)
    query = sorted((quote(name, safe=_UNRESERVED), quote(value, safe=_UNRESERVED)) for name, value in pairs)
    lines = [f"{name}:{signed[name]}" for name in sorted(signed)]
    return "\n".join(
        (method, path, "&".join(f"{name}={value}" for name, value in query), *lines, "", names, payload_hash)
    )


def _signing_key(keys: AwsKeys, scope: str) -> bytes:
    key = b"AWS4" + keys.secret_access_key.reveal().encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key

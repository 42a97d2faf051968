"""AWS Signature Version 4 for object storage and AWS services; pure functions without I/O."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec

from retinue.kit.egress import read_destination
from retinue.kit.secrets import Secret

EMPTY_PAYLOAD = hashlib.sha256().hexdigest()

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNRESERVED = "-_.~"


class AwsKeys(msgspec.Struct, frozen=True):
    """A caller's AWS keys; temporary keys have a session token."""

    access_key_id: str
    secret_access_key: Secret
    session_token: Secret | None = None


def payload_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sign_request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    payload_hash: str,
    region: str,
    service: str,
    keys: AwsKeys,
    now: float,
) -> dict[str, str]:
    """Return the headers to send, including the signature; `url` is percent-encoded as it will be sent.

    `now` is Unix time. `host` is signed but not returned: the egress sets it from the URL.
    """
    timestamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    request_headers = {**headers, "x-amz-date": timestamp}
    if service == "s3":
        request_headers["x-amz-content-sha256"] = payload_hash
    if keys.session_token is not None:
        request_headers["x-amz-security-token"] = keys.session_token.reveal()
    signed_headers = {"host": read_destination(url).authority} | {
        name.lower(): " ".join(value.split()) for name, value in request_headers.items()
    }
    signed_names = ";".join(sorted(signed_headers))
    request = _canonical_request(method, url, signed_headers, signed_names, payload_hash, service)
    scope = f"{timestamp[:8]}/{region}/{service}/aws4_request"
    text = "\n".join((_ALGORITHM, timestamp, scope, hashlib.sha256(request.encode()).hexdigest()))
    signature = hmac.new(_signing_key(keys, scope), text.encode(), hashlib.sha256).hexdigest()
    return {
        **request_headers,
        "Authorization": f"{_ALGORITHM} Credential={keys.access_key_id}/{scope}, "
        f"SignedHeaders={signed_names}, Signature={signature}",
    }


def _canonical_request(
    method: str,
    url: str,
    signed_headers: Mapping[str, str],
    signed_names: str,
    payload_hash: str,
    service: str,
) -> str:
    parts = urlsplit(url)
    path = parts.path or "/"
    # Only S3 uses the path as sent; other services encode it once more.
    path = path if service == "s3" else quote(path, safe=f"/{_UNRESERVED}")
    # Sorted after encoding; a plus is a plus here, not a space.
    pairs = parse_qsl(parts.query.replace("+", "%2B"), keep_blank_values=True)
    query = sorted((quote(name, safe=_UNRESERVED), quote(value, safe=_UNRESERVED)) for name, value in pairs)
    lines = [f"{name}:{signed_headers[name]}" for name in sorted(signed_headers)]
    return "\n".join(
        (
            method,
            path,
            "&".join(f"{name}={value}" for name, value in query),
            *lines,
            "",
            signed_names,
            payload_hash,
        )
    )


def _signing_key(keys: AwsKeys, scope: str) -> bytes:
    key = b"AWS4" + keys.secret_access_key.reveal().encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key

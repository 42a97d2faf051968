"""Temporary keys of an AWS role, fetched from the platform and renewed before they expire."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode, urljoin

import msgspec
import structlog

from retinue.adapters.aws_signing import AwsKeys
from retinue.adapters.blobs.s3_address import S3Address
from retinue.adapters.blobs.s3_xml import find_texts
from retinue.adapters.blobs.store import StorageUnavailable
from retinue.kit.clock import Clock
from retinue.kit.egress import (
    Egress,
    EgressFailed,
    EgressRefused,
    EgressTimeout,
    ResponseTooLarge,
    read_destination,
)
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting, Settings

log = structlog.get_logger("retinue.files")

_RENEW_BEFORE_SECONDS = 300.0
_RETRY_SECONDS = 15.0
_TIMEOUT_SECONDS = 5.0
_MAX_ANSWER_BYTES = 64 * 1024
_CONTAINER_HOST = "http://169.254.170.2"
_INSTANCE_SECONDS = 300
_XML_NAMES = {"AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"}


class TemporaryKeys(msgspec.Struct, frozen=True):
    keys: AwsKeys
    expires_at: float


class KeySource(Protocol):
    async def current(self) -> AwsKeys: ...

    async def close(self) -> None: ...


class FixedKeys:
    """The keys of the setting."""

    def __init__(self, keys: AwsKeys) -> None:
        self._keys = keys

    async def current(self) -> AwsKeys:
        return self._keys

    async def close(self) -> None:
        """Do nothing: there are no resources to release."""


class RoleKeys:
    """The keys of a role; a renewal that fails is repeated, and until they expire the old ones are used."""

    def __init__(self, role: "RoleSource", egress: Egress, clock: Clock) -> None:
        self._role = role
        self._egress = egress
        self._clock = clock
        self._held: TemporaryKeys | None = None
        self._renew_at = 0.0
        self._renewal = asyncio.Lock()

    async def current(self) -> AwsKeys:
        async with self._renewal:
            held, now = self._held, self._clock.time()
            if held is not None and now < min(self._renew_at, held.expires_at):
                return held.keys
            try:
                self._held = held = await self._role.fetch(self._egress)
                self._renew_at = held.expires_at - _RENEW_BEFORE_SECONDS
            except (
                EgressFailed,
                EgressRefused,
                EgressTimeout,
                ResponseTooLarge,
                _NoKeys,
                StorageUnavailable,
                OSError,
            ) as error:
                log.warning("role_keys_unavailable", role=self._role.kind, error=str(error))
                if held is None or now >= held.expires_at:
                    raise StorageUnavailable from error
                self._renew_at = now + _RETRY_SECONDS
            return held.keys

    async def close(self) -> None:
        await self._egress.close()


class _NoKeys(Exception):
    """The platform answered with something else; the message never contains its answer."""


class RoleSource(Protocol):
    kind: str
    url: str

    async def fetch(self, egress: Egress) -> TemporaryKeys: ...


class InstanceRole:
    """The role of an EC2 instance, from its metadata service (version 2)."""

    kind = "instance"

    def __init__(self, url: str) -> None:
        self.url = url

    async def fetch(self, egress: Egress) -> TemporaryKeys:
        asked = {"X-aws-ec2-metadata-token-ttl-seconds": str(_INSTANCE_SECONDS)}
        token = await _call(egress, "PUT", urljoin(self.url, "/latest/api/token"), asked)
        shown = {"X-aws-ec2-metadata-token": token.decode(errors="replace").strip()}
        listing = urljoin(self.url, "/latest/meta-data/iam/security-credentials/")
        name = (await _call(egress, "GET", listing, shown)).decode(errors="replace").strip()
        if not name or "/" in name or "\n" in name:
            raise _NoKeys("the instance has no role")
        return _read_document(await _call(egress, "GET", urljoin(listing, name), shown))


class ContainerRole:
    """The role of an ECS task or an EKS pod, from the agent beside it."""

    kind = "container"

    def __init__(self, url: str, token_file: Path | None) -> None:
        self.url = url
        self._token_file = token_file

    async def fetch(self, egress: Egress) -> TemporaryKeys:
        headers = {}
        if self._token_file is not None:
            # Read anew for each call: the platform replaces it.
            headers["Authorization"] = (await asyncio.to_thread(self._token_file.read_text)).strip()
        return _read_document(await _call(egress, "GET", self.url, headers))


class WebIdentityRole:
    """A role that trusts the token of a Kubernetes service account, from AWS's token service."""

    kind = "web_identity"

    def __init__(self, url: str, role: str, token_file: Path) -> None:
        self.url = url
        self._role = role
        self._token_file = token_file

    async def fetch(self, egress: Egress) -> TemporaryKeys:
        token = (await asyncio.to_thread(self._token_file.read_text)).strip()
        form = {
            "Action": "AssumeRoleWithWebIdentity",
            "Version": "2011-06-15",
            "RoleArn": self._role,
            "RoleSessionName": "retinue",
            "WebIdentityToken": token,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = await _call(egress, "POST", self.url, headers, urlencode(form).encode())
        found = find_texts(answer, _XML_NAMES)
        if found.keys() != _XML_NAMES:
            raise _NoKeys("the token service returned no keys")
        return _temporary(
            found["AccessKeyId"], found["SecretAccessKey"], found["SessionToken"], found["Expiration"]
        )


async def _call(
    egress: Egress, method: str, url: str, headers: Mapping[str, str], content: bytes | None = None
) -> bytes:
    async with egress.request(
        method,
        url,
        timeout_s=_TIMEOUT_SECONDS,
        headers=headers,
        content=content,
        max_bytes=_MAX_ANSWER_BYTES,
    ) as response:
        if response.status != 200:
            raise _NoKeys(f"the answer has the status {response.status}")
        return await response.read()


class _RoleDocument(msgspec.Struct, rename="pascal"):
    access_key_id: str
    secret_access_key: str
    token: str
    expiration: str


def _read_document(content: bytes) -> TemporaryKeys:
    try:
        found = msgspec.json.decode(content, type=_RoleDocument)
    except msgspec.MsgspecError:
        raise _NoKeys("the answer has no keys") from None
    return _temporary(found.access_key_id, found.secret_access_key, found.token, found.expiration)


def _temporary(access_key_id: str, secret: str, token: str, expires: str) -> TemporaryKeys:
    try:
        expires_at = datetime.fromisoformat(expires).timestamp()
    except ValueError:
        raise _NoKeys("the keys have no time of expiry") from None
    return TemporaryKeys(AwsKeys(access_key_id, Secret(secret), Secret(token)), expires_at)


def keys_for(address: S3Address, settings: Settings, clock: Clock) -> KeySource:
    if address.keys is not None:
        return FixedKeys(address.keys)
    role = _role_for(address, settings)
    destination = read_destination(role.url)
    allow = [f"{destination.host}:{destination.port}"]
    if isinstance(role, WebIdentityRole):
        return RoleKeys(role, Egress.from_settings(settings, allow), clock)
    # What stands beside this machine is never behind a proxy.
    return RoleKeys(role, Egress(allow, ca_bundle=settings.ca_bundle), clock)


def _role_for(address: S3Address, settings: Settings) -> RoleSource:
    if address.credentials == "instance":
        return InstanceRole(address.key_service or "http://169.254.169.254")
    if address.credentials == "container":
        relative = settings.aws_container_uri
        url = settings.aws_container_full_uri or (relative and urljoin(_CONTAINER_HOST, relative))
        if not url:
            raise BadSetting(
                "RETINUE_FILES_URL has credentials=container, but the platform has set neither "
                "AWS_CONTAINER_CREDENTIALS_FULL_URI nor AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
            )
        return ContainerRole(url, settings.aws_container_token_file)
    if not settings.aws_role_arn or settings.aws_web_identity_token_file is None:
        raise BadSetting(
            "RETINUE_FILES_URL has credentials=web_identity, but AWS_ROLE_ARN and "
            "AWS_WEB_IDENTITY_TOKEN_FILE are not both set"
        )
    url = address.key_service or f"https://sts.{address.region}.amazonaws.com/"
    return WebIdentityRole(url, settings.aws_role_arn, settings.aws_web_identity_token_file)

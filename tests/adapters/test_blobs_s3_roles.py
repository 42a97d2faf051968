"""Keys of a role for object storage: fetched from the platform, renewed in time, and never in a log."""

import contextlib
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from retinue.adapters.blobs import S3Blobs, StorageUnavailable
from retinue.adapters.blobs.s3_address import parse_s3_url
from retinue.kit.clock import ManualClock
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting, Settings

START = 1_800_000_000.0
HOUR_S = 3600
SESSION_TOKEN = "session/token+of=the role"
POD_TOKEN = "token-of-the-pod"
ROLE = "arn:aws:iam::123456789012:role/files"
KEY = "ten_a/file_1"


@dataclass
class Platform:
    """Issues keys in AWS's three ways, and serves objects only to holders of the newest key."""

    clock: ManualClock
    home: str = ""
    issued: list[str] = field(default_factory=list)
    is_down: bool = False
    objects: dict[str, bytes] = field(default_factory=dict)
    seen: list[dict[str, str]] = field(default_factory=list)

    def issue(self) -> dict[str, str]:
        if self.is_down:
            raise web.HTTPServiceUnavailable
        self.issued.append(f"ASIA{len(self.issued)}")
        expires = datetime.fromtimestamp(self.clock.time() + HOUR_S, UTC)
        return {
            "AccessKeyId": self.issued[-1],
            "SecretAccessKey": secrets.token_urlsafe(),
            "Token": SESSION_TOKEN,
            "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    async def instance_token(self, request: web.Request) -> web.Response:
        assert request.headers["X-aws-ec2-metadata-token-ttl-seconds"] == "300"
        return web.Response(text="imds-token")

    async def instance_role(self, request: web.Request) -> web.Response:
        if request.headers.get("X-aws-ec2-metadata-token") != "imds-token":
            raise web.HTTPUnauthorized
        name = request.match_info["name"]
        return web.json_response(self.issue()) if name else web.Response(text="files-role\n")

    async def container(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != POD_TOKEN:
            raise web.HTTPUnauthorized
        return web.json_response(self.issue())

    async def token_service(self, request: web.Request) -> web.Response:
        form = await request.post()
        if (form["Action"], form["RoleArn"], form["WebIdentityToken"]) != (
            "AssumeRoleWithWebIdentity",
            ROLE,
            POD_TOKEN,
        ):
            raise web.HTTPForbidden
        keys = self.issue()
        keys["SessionToken"] = keys.pop("Token")
        body = "".join(f"<{name}>{value}</{name}>" for name, value in keys.items())
        return web.Response(
            text='<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
            f"<AssumeRoleWithWebIdentityResult><Credentials>{body}</Credentials>"
            "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
        )

    async def storage(self, request: web.Request) -> web.Response:
        self.seen.append(dict(request.headers))
        if f"Credential={self.issued[-1]}/" not in request.headers["Authorization"]:
            raise web.HTTPForbidden
        if request.headers.get("x-amz-security-token") != SESSION_TOKEN:
            raise web.HTTPForbidden
        assert "x-amz-security-token" in request.headers["Authorization"], "the token is signed"
        if request.method == "PUT":
            self.objects[request.path] = await request.read()
            return web.Response(headers={"ETag": '"1"'})
        return web.Response(body=self.objects[request.path])

    def application(self) -> web.Application:
        made = web.Application()
        made.router.add_put("/latest/api/token", self.instance_token)
        made.router.add_get("/latest/meta-data/iam/security-credentials/{name:.*}", self.instance_role)
        made.router.add_get("/v1/credentials", self.container)
        made.router.add_post("/", self.token_service)
        made.router.add_route("*", "/files/{key:.*}", self.storage)
        return made


@pytest.fixture
async def platform() -> AsyncIterator[Platform]:
    made = Platform(ManualClock(START))
    async with TestServer(made.application(), host="127.0.0.1") as server:
        made.home = f"http://127.0.0.1:{server.port}"
        yield made


def url_at(platform: Platform, kind: str) -> Secret:
    host = platform.home.removeprefix("http://")
    service = "" if kind == "container" else f"&key_service={platform.home}/"
    return Secret(f"s3://{host}/files?tls=off&credentials={kind}{service}")


@contextlib.asynccontextmanager
async def blobs_at(platform: Platform, kind: str, folder: Path) -> AsyncIterator[S3Blobs]:
    token = folder / "token"
    token.write_text(POD_TOKEN + "\n")
    settings = Settings(
        aws_role_arn=ROLE,
        aws_web_identity_token_file=token,
        aws_container_full_uri=f"{platform.home}/v1/credentials",
        aws_container_token_file=token,
    )
    made = S3Blobs(
        parse_s3_url(url_at(platform, kind)), settings=settings, clock=platform.clock, pauses_s=(0, 0)
    )
    try:
        yield made
    finally:
        await made.close()


@pytest.mark.either_database
@pytest.mark.parametrize("kind", ["instance", "container", "web_identity"])
async def test_keys_of_a_role_are_fetched_once_and_renewed_before_they_expire(
    platform: Platform, tmp_path: Path, kind: str, caplog: Any, capsys: Any
) -> None:
    source = tmp_path / "upload"
    async with blobs_at(platform, kind, tmp_path) as blobs:
        for _ in range(2):
            source.write_bytes(b"content")
            await blobs.put(KEY, source)
            assert await blobs.size(KEY) == 7
        assert len(platform.issued) == 1
        platform.clock.advance(HOUR_S - 299)
        assert await blobs.size(KEY) == 7
        assert len(platform.issued) == 2
        platform.is_down = True
        platform.clock.advance(HOUR_S - 60)
        assert await blobs.size(KEY) == 7, "until they expire, the old ones are used"
        platform.clock.advance(61)
        with pytest.raises(StorageUnavailable):
            await blobs.size(KEY)
        platform.is_down = False
        assert await blobs.size(KEY) == 7
    printed = capsys.readouterr()
    assert SESSION_TOKEN not in caplog.text + printed.out + printed.err


@pytest.mark.either_database
def test_a_session_token_belongs_to_the_keys_of_the_setting() -> None:
    address = parse_s3_url(Secret("s3://AK:hush@host/bucket?session_token=a%2Fb%2B"))
    assert address.keys is not None
    assert address.keys.session_token is not None
    assert address.keys.session_token.reveal() == "a/b+"


@pytest.mark.either_database
@pytest.mark.parametrize(
    "url",
    [
        "s3://host/bucket",
        "s3://AK:hush@host/bucket?credentials=instance",
        "s3://host/bucket?credentials=instance&session_token=hush",
        "s3://host/bucket?credentials=magic",
        "s3://host/bucket?credentials=instance&key_service=file:///hush",
    ],
)
def test_a_setting_that_contradicts_itself_is_refused(url: str) -> None:
    with pytest.raises(BadSetting, match=r"^RETINUE_FILES_URL ") as refused:
        parse_s3_url(Secret(url))
    assert "hush" not in str(refused.value)


@pytest.mark.either_database
@pytest.mark.parametrize("kind", ["container", "web_identity"])
def test_a_role_that_the_platform_does_not_offer_is_said_at_the_start(kind: str) -> None:
    with pytest.raises(BadSetting, match="AWS_"):
        S3Blobs(parse_s3_url(Secret(f"s3://host/bucket?credentials={kind}")), settings=Settings())

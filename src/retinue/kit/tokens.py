"""Access tokens: signed, short-lived and strictly checked; a verified token is cached, not verified again."""

import re
from base64 import urlsafe_b64decode
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import msgspec
from jwt import PyJWS, PyJWTError

from retinue.kit.clock import Clock
from retinue.kit.errors import Unauthorized
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject

AUDIENCE = "retinue-api"
MAX_TOKEN_LENGTH = 4096
# Tolerance for `nbf` and `iat` from a machine whose clock runs ahead; `exp` has none.
CLOCK_SKEW_SECONDS = 60

TokenType = Literal["access", "mfa"]

_ALGORITHM = "HS256"
_COMPACT = re.compile(r"([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class TokenSigningKeys:
    """The signing key, and previous keys that verify until their last token has expired."""

    active: tuple[str, bytes] = field(repr=False)
    verify_only: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.active[0] in self.verify_only:
            raise ValueError("the active key's id is taken by a verify-only key")
        if any(not kid or len(key) < 32 for kid, key in self.by_id().items()):
            raise ValueError("a signing key has a name and at least 32 bytes")

    def by_id(self) -> dict[str, bytes]:
        return {**self.verify_only, self.active[0]: self.active[1]}


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The claims of a verified token; `extra` holds claims added by the issuer."""

    sub: str
    tid: str
    sid: str
    exp: int
    iat: int
    jti: str
    typ: TokenType
    extra: JsonObject = {}


class _Payload(Claims, frozen=True, kw_only=True):
    iss: str
    aud: str
    nbf: int


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    """The only accepted header; any other field (`crit`, `jku`, `jwk`, `zip`, …) is refused."""

    alg: Literal["HS256"]
    kid: str
    typ: Literal["JWT"]


_read_header = msgspec.json.Decoder(_Header).decode
_read_payload = msgspec.json.Decoder(_Payload).decode
_write_payload = msgspec.json.Encoder().encode


class TokenIssuer:
    """Issues and verifies the tokens of one instance; belongs to one event loop."""

    def __init__(
        self, keys: TokenSigningKeys, issuer: str, clock: Clock, *, remembered: int = 10_000
    ) -> None:
        self._issuer = issuer
        self._clock = clock
        self._remembered = remembered
        self._jws = PyJWS()
        self.keys = keys

    @property
    def keys(self) -> TokenSigningKeys:
        return self._keys

    @keys.setter
    def keys(self, keys: TokenSigningKeys) -> None:
        self._keys = keys
        self._by_id = keys.by_id()
        self._verified: OrderedDict[str, Claims] = OrderedDict()

    def issue(
        self,
        typ: TokenType,
        subject: str,
        tenant_id: str,
        session_id: str,
        lifetime_s: int,
        extra: Mapping[str, Any] | None = None,
    ) -> str:
        now = int(self._clock.time())
        payload = _Payload(
            sub=subject,
            tid=tenant_id,
            sid=session_id,
            exp=now + lifetime_s,
            iat=now,
            jti=new_id("tok"),
            typ=typ,
            extra=dict(extra or {}),
            iss=self._issuer,
            aud=AUDIENCE,
            nbf=now,
        )
        kid, key = self._keys.active
        token = self._jws.encode(_write_payload(payload), key, _ALGORITHM, {"kid": kid, "typ": "JWT"})
        if len(token) > MAX_TOKEN_LENGTH:
            raise ValueError("the extra claims make the token too long")
        return token

    def verify(self, token: str, typ: TokenType, at: float | None = None) -> Claims:
        """Return the claims of a token valid now, or at the time `at`; otherwise raise `Unauthorized`."""
        claims = self._verified.get(token)
        if claims is None:
            claims = self._verify_signed(token)
            self._remember(token, claims)
        else:
            self._verified.move_to_end(token)
        if claims.typ != typ:
            _refuse("invalid_token")
        if claims.exp <= (self._clock.time() if at is None else at):
            self._verified.pop(token, None)
            _refuse("token_expired")
        return claims

    def _verify_signed(self, token: str) -> Claims:
        if len(token) > MAX_TOKEN_LENGTH or not (parts := _COMPACT.fullmatch(token)):
            _refuse("invalid_token")
        try:
            header = _read_header(urlsafe_b64decode(parts[1] + "==="))
            key = self._by_id[header.kid]
            payload = _read_payload(self._jws.decode(token, key, [_ALGORITHM]))
        except (KeyError, ValueError, RecursionError, PyJWTError):
            _refuse("invalid_token")
        if payload.iss != self._issuer or payload.aud != AUDIENCE:
            _refuse("invalid_token")
        if max(payload.nbf, payload.iat) > self._clock.time() + CLOCK_SKEW_SECONDS:
            _refuse("invalid_token")
        return Claims(**{name: getattr(payload, name) for name in Claims.__struct_fields__})

    def _remember(self, token: str, claims: Claims) -> None:
        self._verified[token] = claims
        if len(self._verified) > self._remembered:
            self._verified.popitem(last=False)


def _refuse(reason: Literal["invalid_token", "token_expired"]) -> NoReturn:
    expired = reason == "token_expired"
    problem = "has expired. Refresh it or sign in again." if expired else "is not valid. Sign in again."
    raise Unauthorized(reason, f"The token {problem}") from None

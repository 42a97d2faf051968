import base64

from msgspec import Struct

from retinue.kit.secrets import Secret

_NO_KEY = Secret("")


class EngineAccess(Struct, frozen=True, kw_only=True):
    """Credentials for an engine; `engine_id` is Google's `cx`; with a `username` the key is a password."""

    key: Secret = _NO_KEY
    username: str = ""
    engine_id: str = ""
    base_url: str | None = None

    def authorization(self) -> dict[str, str]:
        """Return the header for a self-hosted server: a login, a token or nothing."""
        if not self.key:
            return {}
        if self.username:
            return {"Authorization": f"Basic {self._login()}"}
        return {"Authorization": f"Bearer {self.key.reveal()}"}

    def hidden(self) -> tuple[str, ...]:
        """Return the secrets to redact, including the encoded login."""
        return (self.key.reveal(), self._login()) if self.username else (self.key.reveal(),)

    def _login(self) -> str:
        return base64.b64encode(f"{self.username}:{self.key.reveal()}".encode()).decode()

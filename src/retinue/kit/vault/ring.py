"""The key ring of a running process, updated from the database while in use."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from retinue.kit.crypto import Envelope, KeyRing, SealLocation
from retinue.kit.errors import Unavailable


class RingStale(Unavailable):
    """The encryption keys could not be checked against the database. Try again in a moment."""


class LiveRing(KeyRing):
    """A ring shared by reference, so that a new key also reaches open transactions and long jobs.

    `is_trusted` returns whether the ring was recently compared with the database: a value sealed with a
    retired key could never be opened again. `on_unknown_version` is called for a value with an unknown key
    version.
    """

    def __init__(self, versions: Mapping[int, bytes], active: int) -> None:
        super().__init__(versions, active)
        self.is_trusted: Callable[[], bool] = lambda: True
        self.on_unknown_version: Callable[[], None] = lambda: None
        self.check: Callable[[], Awaitable[None]] | None = None

    async def prepare(self) -> None:
        """Check the ring if it is no longer trusted, for example after the machine was suspended."""
        if self.check is not None and not self.is_trusted():
            await self.check()

    def learn(self, versions: Iterable[int], active: int, unwrap: Callable[[int], bytes]) -> None:
        """Replace the versions by exactly these; `unwrap` returns the keys of new ones."""
        known = self._versions
        super().__init__(
            {version: known[version] if version in known else unwrap(version) for version in versions}, active
        )

    def seal(self, plaintext: bytes, location: SealLocation) -> bytes:
        if not self.is_trusted():
            raise RingStale
        return super().seal(plaintext, location)

    def _unwrap(self, envelope: Envelope, location: SealLocation) -> bytes:
        if envelope.version not in self._versions:
            self.on_unknown_version()
        return super()._unwrap(envelope, location)

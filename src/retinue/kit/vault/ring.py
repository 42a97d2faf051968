"""The ring of a running process, which follows the database while it is in use."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from retinue.kit.crypto import Envelope, KeyRing, Place
from retinue.kit.errors import Unavailable


class RingStale(Unavailable):
    """The key ring could not be checked for a while; try again in a moment."""


class LiveRing(KeyRing):
    """One object for all holders, so that a new key reaches open transactions and long jobs as well.

    `is_trusted` says whether the ring was compared with the database lately: what a process seals with a key
    that was retired meanwhile could never be opened again. `on_unknown_version` hears of values from a
    version that is not known here.
    """

    def __init__(self, versions: Mapping[int, bytes], active: int) -> None:
        super().__init__(versions, active)
        self.is_trusted: Callable[[], bool] = lambda: True
        self.on_unknown_version: Callable[[], None] = lambda: None
        self.check: Callable[[], Awaitable[None]] | None = None

    async def prepare(self) -> None:
        """After a pause of the whole process, a closed laptop for one, the first to seal looks itself."""
        if self.check is not None and not self.is_trusted():
            await self.check()

    @property
    def versions(self) -> frozenset[int]:
        return frozenset(self._versions)

    def learn(self, versions: Iterable[int], active: int, unwrap: Callable[[int], bytes]) -> None:
        """Hold exactly these versions from now on; `unwrap` gives the keys of those not known yet."""
        held = self._versions
        super().__init__(
            {version: held[version] if version in held else unwrap(version) for version in versions}, active
        )

    def seal(self, plaintext: bytes, place: Place) -> bytes:
        if not self.is_trusted():
            raise RingStale
        return super().seal(plaintext, place)

    def _unwrap(self, envelope: Envelope, place: Place) -> bytes:
        if envelope.version not in self._versions:
            self.on_unknown_version()
        return super()._unwrap(envelope, place)

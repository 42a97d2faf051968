"""One open stream, which waits for notifications of its user and changes of objects."""

import asyncio

import msgspec

from retinue.kit.principal import Principal

MAX_PENDING_CHANGES = 100


class ObjectChange(msgspec.Struct, frozen=True):
    """An object that changed; without an id, any of its type may have."""

    type: str
    id: str | None
    by: str | None


class StreamListener:
    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        self.is_inbox_stale = True
        self._woken = asyncio.Event()
        self._changes: dict[tuple[str, str | None], ObjectChange] = {}

    def wake_for_inbox(self) -> None:
        self.is_inbox_stale = True
        self._woken.set()

    def add_change(self, change: ObjectChange, *, is_precise: bool = True) -> None:
        """Note a change, each object once; too many are reduced to their types."""
        if not is_precise:
            change = ObjectChange(type=change.type, id=None, by=None)
        if (change.type, None) not in self._changes:
            self._changes[change.type, change.id] = change
        if len(self._changes) > MAX_PENDING_CHANGES:
            types = {type for type, _ in self._changes}
            self._changes = {(type, None): ObjectChange(type=type, id=None, by=None) for type in types}
        self._woken.set()

    def take_changes(self) -> list[ObjectChange]:
        taken = list(self._changes.values())
        self._changes.clear()
        return taken

    async def wait(self) -> None:
        """Wait until there is something new."""
        await self._woken.wait()
        self._woken.clear()

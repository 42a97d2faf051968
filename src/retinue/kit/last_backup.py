"""Facts about the newest backup, in a file of the data dir that is written with each."""

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.settings import Settings

LAST_BACKUP = "last_backup.json"


class LastBackup(msgspec.Struct, frozen=True):
    """Facts about the newest backup, kept in the data dir for `retinue doctor`."""

    created_at: Instant
    file: str
    bytes: int


def find_last_backup(settings: Settings) -> LastBackup | None:
    """Return the facts about the newest backup; None if none was made from this data dir."""
    try:
        return msgspec.json.decode((settings.data_dir / LAST_BACKUP).read_bytes(), type=LastBackup)
    except (OSError, msgspec.MsgspecError):
        return None

"""Opening the vault at start: with the right root key, or sealed and harmless."""

import secrets
from dataclasses import dataclass, field

from retinue.kit.clock import Clock
from retinue.kit.crypto import KeyRing, RootKey, Sealed, SealedRing, WrongKey
from retinue.kit.db.engine import Database
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.session import SystemDb, Unit
from retinue.kit.settings import Settings
from retinue.kit.tokens import SigningKeys
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState, VaultKey

KEY_FILE = "master.key"


@dataclass(frozen=True)
class Vault:
    """The opened ring and the instance's keys; `sealed_because` says why it is not open."""

    ring: KeyRing
    signing: SigningKeys = field(repr=False)
    pepper: bytes = field(repr=False)
    sealed_because: str = ""


def root_key(settings: Settings, *, may_create: bool) -> RootKey | None:
    """The root key of the environment, or of the data dir; malformed or sample keys are refused at once."""
    if settings.master_key is not None:
        return RootKey.parse(settings.master_key)
    return RootKey.load_or_create(settings.data_dir / KEY_FILE, may_create=may_create)


async def open_vault(settings: Settings, database: Database, clock: Clock) -> Vault:
    """A database without keys gets its first ones; nothing is ever re-encrypted here."""
    try:
        return await _open(settings, database, clock)
    except UniqueViolation:  # another process made the first keys a moment ago
        return await _open(settings, database, clock)


async def _open(settings: Settings, database: Database, clock: Clock) -> Vault:
    unit = Unit(database, reads_freely=False)
    try:
        stored = await SystemDb(unit, clock, SealedRing()).all(VaultKey, order_by=("version",))
        root = root_key(settings, may_create=not stored)
        if root is None:
            vault = _sealed("the master key is missing")
        elif not stored:
            vault = await _first_keys(unit, clock, root)
        else:
            vault = await _unwrap(unit, clock, root, stored)
        await unit.commit()
    except BaseException:
        await unit.rollback()
        raise
    return vault


def _sealed(reason: str) -> Vault:
    """Sessions begun while sealed end with the process: their tokens are signed by a key nobody keeps."""
    ephemeral = SigningKeys(("sealed-" + secrets.token_hex(4), secrets.token_bytes(32)))
    return Vault(ring=SealedRing(), signing=ephemeral, pepper=b"", sealed_because=reason)


async def _first_keys(unit: Unit, clock: Clock, root: RootKey) -> Vault:
    key = secrets.token_bytes(32)
    ring = KeyRing({1: key}, 1)
    system = SystemDb(unit, clock, ring)
    await system.insert(VaultKey(version=1, wrapped=root.wrap(key, 1), root_fingerprint=root.fingerprint))
    for purpose in KeyPurpose:
        await system.insert(InstanceKey(purpose=purpose, secret=Sealed.of(secrets.token_bytes(32))))
    return await read_keys(system, ring)


async def _unwrap(unit: Unit, clock: Clock, root: RootKey, stored: list[VaultKey]) -> Vault:
    try:
        versions = {row.version: root.unwrap(row.wrapped, row.version) for row in stored}
    except WrongKey:
        return _sealed("the master key is not this database's key")
    active = max(row.version for row in stored if row.state is KeyState.active)
    ring = KeyRing(versions, active)
    return await read_keys(SystemDb(unit, clock, ring), ring)


async def read_keys(system: SystemDb, ring: KeyRing) -> Vault:
    """The instance's keys as they are now; another process may have rotated them."""
    rows = await system.all(InstanceKey, order_by=("-created_at",))
    signing = [row for row in rows if row.purpose is KeyPurpose.signing]
    active = next(row for row in signing if row.state is KeyState.active)
    old = {row.id: row.secret.open(ring) for row in signing if row is not active}
    pepper = next(row for row in rows if row.purpose is KeyPurpose.pepper)
    keys = SigningKeys((active.id, active.secret.open(ring)), old)
    return Vault(ring=ring, signing=keys, pepper=pepper.secret.open(ring))

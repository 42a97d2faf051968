"""Opening the vault at start: with the right root key, or sealed and harmless."""

import secrets
from dataclasses import dataclass, field

from retinue.kit.clock import Clock, Instant
from retinue.kit.crypto import KeyRing, RootKey, Sealed, SealedRing, WrongKey
from retinue.kit.db.engine import Database
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit import Unit
from retinue.kit.settings import Settings
from retinue.kit.tokens import SigningKeys
from retinue.kit.vault.key_files import KeyFiles, root_keys
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState, VaultKey
from retinue.kit.vault.ring import LiveRing


@dataclass(frozen=True)
class Vault:
    """The opened ring and the instance's keys; `sealed_because` says why it is not open."""

    ring: KeyRing
    signing: SigningKeys = field(repr=False)
    pepper: bytes = field(repr=False)
    sealed_because: str = ""


async def open_vault(settings: Settings, database: Database, clock: Clock) -> Vault:
    """A database without keys gets its first ones; nothing is ever re-encrypted here."""
    try:
        return await _open(settings, database, clock)
    except (UniqueViolation, WrongKey):
        # Another process made the first keys, or moved the database to another root key, a moment ago.
        pass
    try:
        return await _open(settings, database, clock)
    except WrongKey:
        return _sealed("the master key is not this database's key")


async def _open(settings: Settings, database: Database, clock: Clock) -> Vault:
    unit = Unit(database, reads_freely=False)
    try:
        stored = await SystemDb(unit, clock, SealedRing()).all(VaultKey, order_by=("version",))
        roots = root_keys(settings, may_create=not stored)
        if not roots:
            vault = _sealed("the master key is missing")
        elif not stored:
            vault = await _first_keys(unit, clock, roots[0])
        else:
            vault = await _unwrap(unit, clock, settings, roots, stored)
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
    ring = LiveRing({1: key}, 1)
    system = SystemDb(unit, clock, ring)
    await system.insert(VaultKey(version=1, wrapped=root.wrap(key, 1), root_fingerprint=root.fingerprint))
    for purpose in KeyPurpose:
        await system.insert(InstanceKey(purpose=purpose, secret=Sealed.of(secrets.token_bytes(32))))
    return await _read_vault(system, clock, ring)


async def _unwrap(
    unit: Unit, clock: Clock, settings: Settings, roots: list[RootKey], stored: list[VaultKey]
) -> Vault:
    root = matching_root(roots, stored)
    versions = {row.version: root.unwrap(row.wrapped, row.version) for row in stored}
    ring = LiveRing(versions, active_version(stored))
    system = SystemDb(unit, clock, ring)
    files = KeyFiles(settings.data_dir)
    if settings.master_key is None and files.has_next(root):
        await _finish_root_rotation(system, files, root)
    return await _read_vault(system, clock, ring)


def matching_root(roots: list[RootKey], stored: list[VaultKey]) -> RootKey:
    """The one of these keys that the database is wrapped with."""
    fingerprints = {row.root_fingerprint for row in stored}
    for root in roots:
        if fingerprints == {root.fingerprint}:
            return root
    raise WrongKey


def active_version(stored: list[VaultKey]) -> int:
    return max(row.version for row in stored if row.state is KeyState.active)


async def _finish_root_rotation(system: SystemDb, files: KeyFiles, root: RootKey) -> None:
    """`rotate_root` was killed between its commit and the exchange of the key files."""
    await hold_ring(system)
    matching_root([root], await system.all(VaultKey))
    files.promote(root)


async def hold_ring(system: SystemDb) -> None:
    """Keep others from changing the ring until this unit ends; the row of the pepper is one that stays."""
    pepper = await system.find(InstanceKey, purpose=KeyPurpose.pepper)
    assert pepper is not None
    await system.lock(InstanceKey, pepper.id)


async def _read_vault(system: SystemDb, clock: Clock, ring: KeyRing) -> Vault:
    rows = await system.all(InstanceKey)
    pepper = next(row for row in rows if row.purpose is KeyPurpose.pepper)
    signing = signing_keys(rows, ring, clock.now(), {})
    return Vault(ring=ring, signing=signing, pepper=pepper.secret.open(ring))


def signing_keys(
    rows: list[InstanceKey], ring: KeyRing, now: Instant, known: dict[str, bytes]
) -> SigningKeys:
    """The newest active key signs, every other one that is not retired verifies; `known` need no opening."""
    good = [
        row
        for row in rows
        if row.purpose is KeyPurpose.signing and (row.retire_at is None or row.retire_at > now)
    ]
    keys = {row.id: known.get(row.id) or row.secret.open(ring) for row in good}
    active = max((row for row in good if row.state is KeyState.active), key=lambda row: row.created_at).id
    return SigningKeys((active, keys.pop(active)), keys)

"""Sealed values open only where, and with the key, they were sealed."""

import base64
import copy
import json
import pickle
import random
import secrets
import stat
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retinue.kit import crypto
from retinue.kit.crypto import (
    SAMPLE_MASTER_KEY,
    DecryptFailed,
    KeyRing,
    RootKey,
    Sealed,
    SealedRing,
    SealLocation,
    WrongKey,
)
from retinue.kit.errors import VaultSealed
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting
from retinue.kit.vault.ring import LiveRing

CANARY = b"CANARY-sk-live-0123456789"
HOME = SealLocation("ten_a", "credentials", "cred_1", "secrets")
KEYS = {1: secrets.token_bytes(32), 2: secrets.token_bytes(32), 3: secrets.token_bytes(32)}
RING = KeyRing(KEYS, active=2)
SEALED = RING.seal(CANARY, HOME)

names = st.text(min_size=0, max_size=12)
places = st.builds(SealLocation, names, names, names, names)


def refuses(sealed: bytes, place: SealLocation = HOME, ring: KeyRing = RING) -> None:
    with pytest.raises(DecryptFailed) as refusal:
        ring.open(sealed, place)
    assert "CANARY" not in repr(refusal.value)
    assert refusal.value.code == "decrypt_failed"
    assert refusal.value.__cause__ is None


def version_in(sealed: bytes) -> int:
    return int.from_bytes(sealed[1:5], "big")


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300), places)
def test_what_was_sealed_opens_in_its_place(plaintext, place):
    sealed = RING.seal(plaintext, place)
    assert RING.open(sealed, place) == plaintext
    assert version_in(sealed) == 2
    assert len(sealed) == len(plaintext) + 93


def test_a_value_that_was_opened_before_opens_nowhere_else_and_by_no_other_version():
    ring = LiveRing(KEYS, active=2)
    other = ring.seal(b"another", HOME)
    for _ in range(2):
        assert ring.open(SEALED, HOME) == CANARY
        refuses(SEALED, msgspec.structs.replace(HOME, record_id="cred_2"), ring)
        refuses(SEALED[:4] + bytes([3]) + SEALED[5:], HOME, ring)
        refuses(SEALED[:65] + other[65:], HOME, ring)
        refuses(other[:65] + SEALED[65:], HOME, ring)


def test_a_version_that_was_given_up_opens_nothing_that_it_has_opened_before():
    ring = LiveRing(KEYS, active=2)
    assert ring.open(SEALED, HOME) == CANARY
    ring.learn([1, 3], 3, KEYS.__getitem__)
    refuses(SEALED, HOME, ring)


def test_a_ring_keeps_no_more_keys_of_values_than_it_has_room_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(crypto, "_MAX_CACHED_DATA_KEYS", 3)
    ring = KeyRing(KEYS, active=2)
    places = [msgspec.structs.replace(HOME, record_id=str(number)) for number in range(10)]
    values = [(ring.seal(place.record_id.encode(), place), place) for place in places]
    for sealed, place in [*values, *values]:
        assert ring.open(sealed, place) == place.record_id.encode()
        assert len(ring._data_keys) <= 3


def test_two_seals_of_one_value_share_no_bytes_of_key_or_ciphertext():
    again = RING.seal(CANARY, HOME)
    assert SEALED[:5] == again[:5]
    assert SEALED[5:65] != again[5:65]
    assert SEALED[77:] != again[77:]
    assert CANARY not in SEALED


@settings(max_examples=50, deadline=None)
@given(places, places)
def test_a_value_moved_to_another_place_never_opens(one, other):
    sealed = RING.seal(CANARY, one)
    if one == other:
        assert RING.open(sealed, other) == CANARY
    else:
        refuses(sealed, other)


@pytest.mark.parametrize(
    "elsewhere",
    [
        SealLocation("ten_b", "credentials", "cred_1", "secrets"),
        SealLocation("ten_a", "tools", "cred_1", "secrets"),
        SealLocation("ten_a", "credentials", "cred_2", "secrets"),
        SealLocation("ten_a", "credentials", "cred_1", "auth_config"),
        SealLocation("ten_acredentials", "", "cred_1", "secrets"),
        SealLocation("ten_a", "credential", "scred_1", "secrets"),
    ],
)
def test_each_part_of_the_place_is_bound(elsewhere):
    refuses(SEALED, elsewhere)
    with pytest.raises(DecryptFailed):
        RING.rewrap(SEALED, elsewhere)


def test_a_wrapped_key_of_another_record_does_not_open_this_one():
    other = RING.seal(b"other", SealLocation("ten_a", "credentials", "cred_2", "secrets"))
    refuses(other[:65] + SEALED[65:])
    refuses(SEALED[:65] + other[65:])
    same_place = RING.seal(b"other", HOME)
    refuses(same_place[:65] + SEALED[65:])


def test_each_layer_is_bound_to_the_place_on_its_own():
    elsewhere = SealLocation("ten_a", "credentials", "cred_1", "auth_config")
    data_key = RING._unwrap(crypto._parse(SEALED), HOME)
    refuses(RING._wrap(data_key, elsewhere) + SEALED[65:], elsewhere)
    assert RING.open(RING._wrap(data_key, HOME) + SEALED[65:], HOME) == CANARY
    assert RING._tenant_key(HOME, 2) != RING._tenant_key(SealLocation("ten_b", "", "", ""), 2)


def test_the_version_is_bound_even_where_two_versions_share_a_key():
    twins = KeyRing({1: KEYS[1], 2: KEYS[1]}, active=2)
    sealed = twins.seal(CANARY, HOME)
    refuses(sealed[:1] + (1).to_bytes(4, "big") + sealed[5:], ring=twins)


def test_every_flipped_bit_of_every_byte_fails_closed():
    for position in range(len(SEALED)):
        for bit in range(8):
            bent = bytearray(SEALED)
            bent[position] ^= 1 << bit
            refuses(bytes(bent))


def test_every_truncation_and_any_addition_fails_closed():
    for length in range(len(SEALED)):
        refuses(SEALED[:length])
    refuses(SEALED + b"\0")


@pytest.mark.parametrize("version", [0, 1, 3, 4, 2**32 - 1])
def test_another_key_version_in_the_header_fails_closed(version):
    refuses(SEALED[:1] + version.to_bytes(4, "big") + SEALED[5:])


@settings(max_examples=75, deadline=None)
@given(st.data())
def test_any_other_bytes_fail_closed(data):
    start = data.draw(st.integers(0, len(SEALED)))
    end = data.draw(st.integers(start, len(SEALED)))
    mutated = SEALED[:start] + data.draw(st.binary(max_size=len(SEALED))) + SEALED[end:]
    if mutated == SEALED:
        assert RING.open(mutated, HOME) == CANARY
    else:
        refuses(mutated)


def test_ten_thousand_mutations_and_swaps_fail_closed():
    """Bits flipped, pieces cut out, doubled and exchanged with those of other rows, fields and tenants."""
    chance = random.Random(20261115)
    elsewhere = [
        SealLocation("ten_a", "credentials", "cred_2", "secrets"),
        SealLocation("ten_b", "credentials", "cred_1", "secrets"),
        SealLocation("ten_a", "tools", "cred_1", "auth_config"),
    ]
    others = [RING.seal(CANARY, place) for place in elsewhere] + [RING.seal(CANARY, HOME)]
    for _ in range(10_000):
        start, end = sorted(chance.choices(range(len(SEALED) + 1), k=2))
        other = chance.choice(others)
        flipped = bytearray(SEALED)
        flipped[chance.randrange(len(SEALED))] ^= chance.randrange(1, 256)
        ways = (
            bytes(flipped),
            SEALED[:start] + SEALED[end:],
            SEALED[:end] + SEALED[start:],
            SEALED[:start] + other[start:end] + SEALED[end:],
        )
        mutated = chance.choice(ways)
        if mutated not in {SEALED, others[-1]}:
            refuses(mutated)
    for other in others[:-1]:
        refuses(other)


def test_the_same_version_number_with_another_key_fails_closed():
    refuses(SEALED, ring=KeyRing({2: KEYS[1]}, active=2))


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=100), places)
def test_rewrapping_moves_the_value_to_the_active_version_without_touching_it(plaintext, place):
    before = KeyRing(KEYS, active=1).seal(plaintext, place)
    after = KeyRing(KEYS, active=3).rewrap(before, place)
    assert version_in(after) == 3
    assert after[65:] == before[65:]
    assert after[5:65] != before[5:65]
    assert KeyRing({3: KEYS[3]}, active=3).open(after, place) == plaintext
    with pytest.raises(DecryptFailed):
        KeyRing({1: KEYS[1]}, active=1).open(after, place)


def test_rewrapping_never_decrypts_the_value():
    broken_value = SEALED[:-1] + bytes([SEALED[-1] ^ 1])
    moved = KeyRing(KEYS, active=3).rewrap(broken_value, HOME)
    assert moved[65:] == broken_value[65:]
    refuses(moved)


def test_named_keys_differ_by_purpose_and_version_and_from_tenant_keys():
    named = {
        RING.derive("tokens"),
        RING.derive("links"),
        RING.derive("tokens", 1),
        crypto._derive(KEYS[2], "kek/tokens"),
    }
    assert len(named) == 4
    assert RING.derive("tokens") == KeyRing(KEYS, active=3).derive("tokens", 2)
    assert all(len(key) == 32 for key in named)


def test_a_ring_with_a_short_key_or_without_its_active_key_is_not_made():
    for versions, active in [
        ({1: b"short"}, 1),
        ({1: KEYS[1]}, 2),
        ({0: KEYS[1]}, 0),
        ({2**32: KEYS[1]}, 2**32),
    ]:
        with pytest.raises(ValueError, match=r"version"):
            KeyRing(versions, active)


def test_a_sealed_vault_refuses_everything_that_needs_a_key():
    ring = SealedRing()
    for attempt in (
        lambda: ring.seal(CANARY, HOME),
        lambda: ring.open(SEALED, HOME),
        lambda: ring.rewrap(SEALED, HOME),
        lambda: ring.derive("tokens"),
        lambda: Sealed.stored(SEALED, HOME).text(ring),
        lambda: Sealed.of("x").ciphertext(ring, HOME),
    ):
        with pytest.raises(VaultSealed):
            attempt()


def test_a_secret_field_goes_from_pending_to_stored_and_back_to_text():
    pending = Sealed.of("pässword")
    assert pending.is_pending
    stored = Sealed.stored(pending.ciphertext(RING, HOME), HOME)
    assert not stored.is_pending
    assert stored.text(RING) == pending.text(RING) == "pässword"
    assert stored.ciphertext(RING, HOME) == stored.ciphertext(SealedRing(), HOME)
    with pytest.raises(ValueError, match="bound to its location"):
        stored.ciphertext(RING, SealLocation("ten_b", "credentials", "cred_1", "secrets"))


def test_a_secret_field_has_no_printed_copied_pickled_or_json_form():
    class Row(msgspec.Struct):
        secret: Sealed

    for sealed in (Sealed.of(CANARY), Sealed.stored(SEALED, HOME)):
        assert {repr(sealed), str(sealed), f"{sealed:>9}", repr([sealed])[1:-1]} == {"***"}
        assert "CANARY" not in repr(Row(sealed))
        assert copy.deepcopy(sealed) is copy.copy(sealed) is sealed
        assert json.dumps(sealed, default=str) == '"***"'
        for give_away in (pickle.dumps, json.dumps, msgspec.json.encode, msgspec.msgpack.encode, bytes, vars):
            with pytest.raises(TypeError):
                give_away(sealed)
        with pytest.raises(TypeError):
            msgspec.json.encode(Row(sealed))


def test_rings_and_root_keys_are_not_pickled_or_printed():
    root = RootKey(KEYS[1])
    for holder in (RING, root):
        with pytest.raises(TypeError):
            pickle.dumps(holder)
        assert KEYS[1].hex() not in repr(holder)
    assert root.fingerprint in repr(root)


def test_a_root_key_is_read_in_both_base64_alphabets_with_and_without_padding():
    key = b"\xfb\xff" * 16
    standard, urlsafe = base64.b64encode(key).decode(), base64.urlsafe_b64encode(key).decode()
    assert standard != urlsafe
    for text in (standard, urlsafe, standard.rstrip("="), f" {urlsafe}\n"):
        assert RootKey.parse(Secret(text)) == RootKey(key)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "secret",
        "changeme",
        SAMPLE_MASTER_KEY,
        base64.b64encode(b"secret".ljust(32, b"!")).decode(),
        base64.b64encode(b"ChangeMe" * 4).decode(),
        base64.b64encode(b"\0" * 32).decode(),
        base64.b64encode(b"k" * 32).decode(),
        base64.b64encode(bytes(range(16))).decode(),
        base64.b64encode(bytes(range(31))).decode(),
        base64.b64encode(bytes(range(33))).decode(),
        base64.b64encode(bytes(range(64))).decode(),
        base64.b64encode(bytes(range(32))).decode() + "=",
        base64.b64encode(bytes(range(32))).decode().replace("A", "*", 1),
        "\N{FULLWIDTH DIGIT ONE}" * 43,
    ],
)
def test_a_malformed_or_well_known_root_key_is_refused_by_name_without_being_shown(text):
    with pytest.raises(BadSetting, match=r"^RETINUE_MASTER_KEY ") as refusal:
        RootKey.parse(Secret(text))
    assert not text or text not in str(refusal.value)


def test_only_the_right_root_key_unwraps_a_version_key():
    root, version_key = RootKey.generate(), secrets.token_bytes(32)
    wrapped = root.wrap(version_key, 7)
    assert version_key not in wrapped
    assert RootKey.parse(root.encoded()).unwrap(wrapped, 7) == version_key
    for stranger, text, version in [
        (RootKey.generate(), wrapped, 7),
        (root, wrapped, 8),
        (root, wrapped[:-1], 7),
        (root, b"", 7),
        (root, b"\x02" + wrapped[1:], 7),
        (root, wrapped[:-1] + bytes([wrapped[-1] ^ 1]), 7),
    ]:
        with pytest.raises(WrongKey):
            stranger.unwrap(text, version)
    assert root.fingerprint != RootKey.generate().fingerprint


def test_a_generated_key_file_is_private_and_read_again(tmp_path):
    path = tmp_path / "data" / "master.key"
    assert RootKey.load_or_create(path, may_create=False) is None
    assert not path.parent.exists()
    made = RootKey.load_or_create(path, may_create=True)
    assert made == RootKey.load_or_create(path, may_create=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["master.key"]


def test_processes_that_start_together_agree_on_one_key(tmp_path):
    path = tmp_path / "master.key"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: RootKey.load_or_create(path, may_create=True), range(16)))
    assert all(key == made[0] for key in made)
    assert [entry.name for entry in tmp_path.iterdir()] == ["master.key"]


def test_a_key_file_others_may_read_or_with_bad_content_is_refused(tmp_path):
    path = tmp_path / "master.key"
    RootKey.load_or_create(path, may_create=True)
    path.chmod(0o640)
    with pytest.raises(BadSetting, match="chmod 600"):
        RootKey.load_or_create(path, may_create=True)
    path.chmod(0o600)
    for content in (b"", b"\xff\xfe", SAMPLE_MASTER_KEY.encode()):
        path.write_bytes(content)
        with pytest.raises(BadSetting, match=r"master\.key"):
            RootKey.load_or_create(path, may_create=True)

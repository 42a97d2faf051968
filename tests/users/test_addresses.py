"""Mail addresses of people: one form, and none that can be taken for another."""

import pytest

from retinue.kit.errors import Invalid
from retinue.users.email_addresses import normalize_email, validate_email
from tests.factories.people import PASSWORD

PERSON = {"password": PASSWORD, "first_name": "A", "last_name": "B"}

ALLOWED = [
    "ada@example.com",
    "o'neil+lists.2024@example.com",
    "zoë@example.com",
    "админ.2024@example.com",
    "δοκιμή@example.com",
    "علي@example.com",
    "दीपक@example.com",
    "田中@example.com",
    "田中たろう@example.com",
    "김영희@example.com",
    "ada@xn--mnchen-3ya.de",
    "ada@xn--80ak6aa92e.com",
]
REFUSED = {
    "Cyrillic a in a Latin name": "\N{CYRILLIC SMALL LETTER A}dmin@example.com",
    "Greek omicron in a Latin name": "r\N{GREEK SMALL LETTER OMICRON}ot@example.com",
    "Latin in a Cyrillic name": "админ.root@example.com",
    "Han and Latin": "田中taro@example.com",
    "digits of two systems": "علي\N{ARABIC-INDIC DIGIT ONE}2@example.com",
    "right-to-left override": "\N{RIGHT-TO-LEFT OVERRIDE}nimda@example.com",
    "isolate": "ad\N{LEFT-TO-RIGHT ISOLATE}min@example.com",
    "right-to-left mark": "admin\N{RIGHT-TO-LEFT MARK}@example.com",
    "zero width space": "ad\N{ZERO WIDTH SPACE}min@example.com",
    "zero width joiner": "ad\N{ZERO WIDTH JOINER}min@example.com",
    "soft hyphen": "ad\N{SOFT HYPHEN}min@example.com",
    "Hangul filler": "admin\N{HANGUL FILLER}@example.com",
    "variation selector": "admin\N{VARIATION SELECTOR-16}@example.com",
    "grapheme joiner": "ad\N{COMBINING GRAPHEME JOINER}min@example.com",
    "tag characters": "admin\N{TAG LATIN SMALL LETTER A}@example.com",
    "blank braille": "admin\N{BRAILLE PATTERN BLANK}@example.com",
    "hidden dot": "admi\N{COMBINING DOT ABOVE}n@example.com",
    "capital whose small form hides a dot": "adm\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}n@example.com",
    "the same mark twice": "q\N{COMBINING ACUTE ACCENT}\N{COMBINING ACUTE ACCENT}@example.com",
    "leading mark": "\N{COMBINING ACUTE ACCENT}admin@example.com",
    "private use": "admin\ue000@example.com",
    "unassigned": "admin\u0378@example.com",
    "full-width at sign": "root\N{FULLWIDTH COMMERCIAL AT}evil@example.com",
    "full-width bracket": "a\N{FULLWIDTH LESS-THAN SIGN}b@example.com",
    "mixed label of the domain": "ada@xn--pple-43d.com",
    "label that decodes to nothing": "ada@xn--.com",
    "label that is no encoding": "ada@xn--99999999999.com",
    "label that hides an invisible character": "ada@xn--exmple-xt3b.com",
}


@pytest.mark.parametrize("email", ALLOWED)
async def test_addresses_in_one_script_register(api, email) -> None:
    answer = await api.post("/auth/register", {"email": email, **PERSON})
    assert (answer.status, answer.json().get("email")) == (201, email)


@pytest.mark.parametrize("email", REFUSED.values(), ids=REFUSED)
async def test_addresses_that_look_like_others_do_not_register(api, email) -> None:
    answer = await api.post("/auth/register", {"email": email, **PERSON})
    assert (answer.status, answer.code, list(answer.details)) == (422, "validation_error", ["email"])
    assert answer.details["email"].startswith("must ")


async def test_such_addresses_are_refused_wherever_a_person_gets_one(admin) -> None:
    email = REFUSED["Cyrillic a in a Latin name"]
    answer = await admin.post("/users/invite", {"email": email, "role": "viewer"})
    assert (answer.status, list(answer.details)) == (422, ["email"])
    answer = await admin.post("/api/v1/tenants", {"name": "T", "admin": {"email": email, **PERSON}})
    assert (answer.status, list(answer.details)) == (422, ["admin.email"])


async def test_two_spellings_of_one_address_are_one_account(api) -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in "ada")
    composed, decomposed = "zo\u00eb@example.com", "zoe\u0308@example.com"
    answer = await api.post("/auth/register", {"email": f"{wide}@example.com", **PERSON})
    assert (answer.status, answer.json()["email"]) == (201, "ada@example.com")
    assert (await api.post("/auth/register", {"email": "ADA@example.com", **PERSON})).code == "email_taken"
    assert (await api.post("/auth/register", {"email": decomposed, **PERSON})).json()["email"] == composed
    assert (await api.post("/auth/register", {"email": composed, **PERSON})).code == "email_taken"
    for spelling in (f"{wide}@example.com", "Ada@Example.com"):
        login = await api.post("/auth/login", {"email": spelling, "password": PASSWORD})
        assert login.status == 200, spelling


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("  Ada@Example.COM ", "ada@example.com"),
        ("ada@M\u00fcnchen.de", "ada@xn--mnchen-3ya.de"),
        ("\N{KELVIN SIGN}ate@example.com", "kate@example.com"),
        ("\N{LATIN SMALL LIGATURE FI}n@example.com", "fin@example.com"),
    ],
)
def test_an_address_is_kept_in_one_form(written, kept) -> None:
    assert normalize_email(written) == kept
    assert normalize_email(kept) == kept


@pytest.mark.parametrize("email", REFUSED.values(), ids=REFUSED)
def test_every_refusal_says_what_is_wrong(email) -> None:
    with pytest.raises(Invalid) as refused:
        validate_email(normalize_email(email), "admin.email")
    assert list(refused.value.details) == ["admin.email"]

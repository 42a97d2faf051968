"""Tests of the words that the console has for the actions of the audit log."""

import json
from pathlib import Path

from retinue.domains import DOMAINS

WORDS = Path(__file__).parents[2] / "console" / "src" / "shared" / "audit_actions" / "words.en.json"


def test_the_console_has_words_for_every_audited_action():
    named = {key for key in json.loads(WORDS.read_text()) if not key.endswith(".*")}
    kinds = [event.__event__ for domain in DOMAINS for event in domain.events]
    assert named == {kind.name for kind in kinds if kind.is_audited}

"""Tests of a question without an answer in the widget, before and after a reload."""

import pytest

from tests.embed.javascript import evaluate, needs_node

PARTS = ("words.js", "talking.js", "recovery.js", "unsent.js")
UNSENT = "given.map(([kept, messages]) => unsentAfter(kept, messages))"
NOTHING = {"text": "", "files": [], "asked": None, "failed": None}


def user_message(content: str, *, has_failed: bool = False, **more) -> dict:
    return {"role": "user", "content": content, "has_failed": has_failed, "attachments": [], **more}


def failed_question(text: str, *, is_put_back: bool, message: str = "failed") -> dict:
    return {"text": text, "files": [], "isPutBack": is_put_back, "message": message, "mayRetry": True}


def unsent(kept: dict, *messages: dict) -> dict:
    (shown,) = evaluate(PARTS, UNSENT, [[{**NOTHING, **kept}, messages]])
    return shown


@needs_node
def test_a_question_that_the_service_has_is_not_in_the_field_as_well():
    kept = {"text": "Where?", "failed": failed_question("Where?", is_put_back=True)}
    assert unsent(kept, user_message("Where?", has_failed=True)) == NOTHING
    file = {"file_id": "fil_1", "filename": "a.txt"}
    other = {"file_id": "fil_2", "filename": "b.txt"}
    stored = user_message("Where?", has_failed=True, attachments=[file])
    assert unsent({"text": "Where?", "files": [file, other]}, stored)["files"] == [other]


@needs_node
def test_why_a_question_was_put_back_is_told_again():
    kept = {"text": "Where?", "failed": failed_question("Where?", is_put_back=True)}
    assert unsent(kept) == {**NOTHING, **kept}
    assert unsent({**kept, "text": ""}) == NOTHING


@needs_node
def test_a_stored_question_without_an_end_keeps_its_notice():
    lost = failed_question("Where?", is_put_back=False, message="unanswered")
    assert unsent({"failed": lost}, user_message("Where?"))["failed"] == lost
    assert (
        unsent({"failed": lost}, user_message("Where?"), {"role": "assistant", "content": "Here."}) == NOTHING
    )


@needs_node
def test_a_question_on_its_way_is_put_back_and_marked_unless_the_service_has_it():
    question = {"text": "Where?", "files": []}
    shown = unsent({"asked": question})
    assert shown["asked"] == question
    assert (shown["failed"]["message"], shown["failed"]["isPutBack"]) == ("unanswered", True)
    assert unsent({"asked": question}, user_message("Where?")) == NOTHING


STORED = """Promise.all(given.map(async ([message, options, heard, messages]) => {
  const conversation = { messages: async () => messages };
  const error = await asStored(new ChatError(message, options), { text: "Where?" }, heard, conversation);
  return [error.message, error.wasBegun];
}))"""


@needs_node
@pytest.mark.parametrize(
    ("error", "heard", "messages", "told"),
    [
        (("unanswered", {"wasBegun": True}), "Half", [], ["cutOff", True]),
        (("cutOff", {}), "", [], ["unanswered", True]),
        (
            ("failed", {"isRefusal": True}),
            "",
            [user_message("Where?", has_failed=True)],
            ["unanswered", True],
        ),
        (("failed", {"isRefusal": True}), "", [user_message("Who?", has_failed=True)], ["failed", False]),
        (
            ("cannotAnswer", {"isRefusal": True}),
            "",
            [user_message("Where?", has_failed=True)],
            ["cannotAnswer", True],
        ),
        (("unreachable", {}), "", [user_message("Where?", has_failed=True)], ["unreachable", False]),
    ],
)
def test_a_failure_is_told_as_it_is_told_after_a_reload(error, heard, messages, told):
    assert evaluate(PARTS, STORED, [[*error, heard, messages]]) == [told]

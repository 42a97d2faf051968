import pytest

from retinue.adapters.llm import ModelReply, ReplyFinished, TextDelta, ToolCall
from retinue.kit.secrets import Secret
from retinue.kit.text.redaction import MASK
from retinue.providers.reply_redaction import ReplyRedactor

KEY = 'sk-ab"äb\\sk-ab-0123'


def reply(text: str = "", *calls: ToolCall) -> ModelReply:
    return ModelReply(text=text, tool_calls=calls, finish_reason="stop", usage=None, model="m")


def redact_stream(guard: ReplyRedactor, *texts: str) -> str:
    deltas = [*(TextDelta(text) for text in texts), ReplyFinished(reply("".join(texts)))]
    *parts, done = [passed for delta in deltas for passed in guard.redact_delta(delta)]
    assert all(part.text for part in parts)
    text = "".join(part.text for part in parts)
    assert done.reply.text == text
    return text


@pytest.mark.parametrize("size", range(1, 2 * len(KEY)))
def test_a_key_is_masked_however_the_text_is_cut(size) -> None:
    text = f"{KEY}, sk-ab and sk-ab{KEY}{KEY} or sk-ab"
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert (
        redact_stream(ReplyRedactor(Secret(KEY)), *pieces) == f"{MASK}, sk-ab and sk-ab{MASK}{MASK} or sk-ab"
    )


def test_text_that_is_not_the_key_goes_on_at_once() -> None:
    guard = ReplyRedactor(Secret(KEY))
    assert list(guard.redact_delta(TextDelta("Good morning"))) == [TextDelta("Good morning")]
    assert list(guard.redact_delta(TextDelta(" sk"))) == [TextDelta(" ")]
    assert list(guard.redact_delta(TextDelta("ating"))) == [TextDelta("skating")]


@pytest.mark.parametrize("key", ["", "short"])
def test_without_a_key_to_speak_of_everything_goes_on(key) -> None:
    assert redact_stream(ReplyRedactor(Secret(key)), "a short ", "text") == "a short text"


def test_a_key_in_the_arguments_of_a_tool_is_masked() -> None:
    call = ToolCall("1", "leak", {"deep": [{"key": KEY}]}, '{"deep": [{"key": "…"}]}')
    cleaned = ReplyRedactor(Secret(KEY)).clean(reply("", call))
    assert cleaned.tool_calls[0].arguments == {"deep": [{"key": MASK}]}


def test_what_has_no_key_in_it_is_left_as_it_is() -> None:
    said = reply("Hello")
    assert ReplyRedactor(Secret(KEY)).clean(said) is said

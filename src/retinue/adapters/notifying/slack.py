"""Team chat: incoming webhooks in Slack's format, which others speak too, and Slack's own bots."""

import re
from collections.abc import Callable
from typing import Any

from retinue.adapters.notifying.errors import ProviderRefused
from retinue.adapters.notifying.recipients import chat_channel
from retinue.adapters.notifying.sending import Message, Outside, Sent
from retinue.adapters.notifying.texts import one_line, shortened
from retinue.adapters.notifying.wire import Wire
from retinue.kit import hops
from retinue.kit.egress import read_destination

WEBHOOK_ID, WEBHOOK_NAME = "slack_webhook", "The incoming webhook"
BOT_ID, BOT_NAME = "slack_bot", "Slack"
_ADDRESS = "https://slack.com/api"
_LONGEST = 40_000
_LONGEST_AT_DISCORD = 2_000
_DISCORD = frozenset({"discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com"})
_SHORTEST_PATH = 8
_MARK = "… (shortened)"
_SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Mattermost, Rocket.Chat and Discord take these words as they stand for a call to everybody.
_CALL_TO_ALL = re.compile(r"@(?=(?:all|channel|everyone|here)\b)", re.IGNORECASE)
# Errors with which Slack says that this message will never reach this channel.
_PERMANENT = frozenset(
    {
        "as_user_not_supported",
        "cannot_dm_bot",
        "cannot_reply_to_message",
        "channel_not_found",
        "invalid_arguments",
        "invalid_channel",
        "is_archived",
        "messages_tab_disabled",
        "msg_blocks_too_long",
        "msg_too_long",
        "no_text",
        "not_in_channel",
        "restricted_action",
        "user_disabled",
        "user_not_found",
        "user_not_visible",
    }
)


async def send_to_webhook(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    url = config["webhook_url"]
    destination = read_destination(url)
    # The path is the secret part; a short one is none, and would black out ordinary words.
    path = destination.path_and_query
    wire = Wire(outside, WEBHOOK_NAME, url, *([path] if len(path) >= _SHORTEST_PATH else []))
    longest = _LONGEST_AT_DISCORD if destination.host in _DISCORD else _LONGEST
    payload = {"text": _text(message, longest, _quiet)}
    if channel := chat_channel(message.recipient, config, "channel"):
        payload["channel"] = channel
    if username := one_line(config.get("username") or "", 80):
        payload["username"] = username
    answer = await wire.post_json(url, payload, {hops.HEADER: str(message.hops)})
    # Rocket.Chat says in the body what went wrong, Slack with a bare word.
    told = answer.fields.get("error") or answer.fields.get("message") or answer.text
    if not answer.is_success or answer.fields.get("success") is False:
        wire.refuse(answer, told)
    return Sent(detail=wire.quote(answer.text) if len(answer.text) < 100 else "")


async def send_as_bot(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    channel = chat_channel(message.recipient, config, "default_channel")
    if not channel:
        raise ProviderRefused(
            "There is no channel to post to: default_channel is not set.", is_permanent=True
        )
    wire = Wire(outside, BOT_NAME, config["bot_token"])
    answer = await wire.post_json(
        f"{outside.address(BOT_ID, _ADDRESS)}/chat.postMessage",
        {
            "channel": channel,
            "text": _text(message, _LONGEST, _escaped),
            "unfurl_links": False,
            "unfurl_media": False,
        },
        {"Authorization": f"Bearer {config['bot_token']}"},
    )
    fields = answer.fields
    if not answer.is_success or fields.get("ok") is not True:
        error = str(fields.get("error") or ("" if answer.is_success else answer.text))
        needed = fields.get("needed")
        said = f"{error} (needed: {needed})" if needed else error
        wire.refuse(answer, said or "no answer in its protocol", is_permanent=error in _PERMANENT)
    return Sent(provider_id=str(fields.get("ts", "")), detail=wire.quote(fields.get("channel")))


def _text(message: Message, longest: int, escape: Callable[[str], str]) -> str:
    """The subject in bold above the text."""
    subject = f"*{message.subject}*\n" if message.subject and message.subject != message.text else ""
    return shortened(subject + message.text, longest, _MARK, escape=escape)


def _escaped(text: str) -> str:
    """What begins a link or a mention in Slack's markup stands for itself."""
    return text.translate(_SPECIAL)


def _quiet(text: str) -> str:
    return _CALL_TO_ALL.sub("@\u200b", _escaped(text))

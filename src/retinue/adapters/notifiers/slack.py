"""Team chat: incoming webhooks in Slack's format, which others support too, and Slack bots."""

import re
from collections.abc import Callable

from retinue.adapters.notifiers.client import NotifierClient
from retinue.adapters.notifiers.errors import ProviderRefused
from retinue.adapters.notifiers.message_text import one_line, truncate
from retinue.adapters.notifiers.notifier import NotificationMessage, SendContext, SendReceipt
from retinue.adapters.notifiers.recipients import chat_channel
from retinue.kit import hop_count
from retinue.kit.egress import read_destination
from retinue.kit.json_types import JsonObject

WEBHOOK_ID, WEBHOOK_NAME = "slack_webhook", "The incoming webhook"
BOT_ID, BOT_NAME = "slack_bot", "Slack"
_ADDRESS = "https://slack.com/api"
_MAX_TEXT_LENGTH = 40_000
_MAX_DISCORD_LENGTH = 2_000
_DISCORD = frozenset({"discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com"})
_MIN_SECRET_PATH_LENGTH = 8
_TRUNCATION_MARK = "… (shortened)"
_SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Mattermost, Rocket.Chat and Discord treat these plain words as a mention of everyone.
_CALL_TO_ALL = re.compile(r"@(?=(?:all|channel|everyone|here)\b)", re.IGNORECASE)
# Slack's errors for messages that will never reach the channel.
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


async def send_to_webhook(
    context: SendContext, config: JsonObject, message: NotificationMessage
) -> SendReceipt:
    url = config["webhook_url"]
    destination = read_destination(url)
    # The path is the secret part; redacting a short one would mutilate ordinary words.
    path = destination.path_and_query
    client = NotifierClient(
        context, WEBHOOK_NAME, url, *([path] if len(path) >= _MIN_SECRET_PATH_LENGTH else [])
    )
    max_length = _MAX_DISCORD_LENGTH if destination.host in _DISCORD else _MAX_TEXT_LENGTH
    payload = {"text": _text(message, max_length, _without_mentions)}
    if channel := chat_channel(message.recipient, config, "channel"):
        payload["channel"] = channel
    if username := one_line(config.get("username") or "", 80):
        payload["username"] = username
    response = await client.post_json(url, payload, {hop_count.HOPS_HEADER: str(message.hops)})
    # Rocket.Chat reports errors in the body, Slack with a bare word.
    if not response.is_success or response.fields.get("success") is False:
        client.refuse(response, response.explanation)
    return SendReceipt(detail=client.quote(response.text) if len(response.text) < 100 else "")


async def send_as_bot(context: SendContext, config: JsonObject, message: NotificationMessage) -> SendReceipt:
    channel = chat_channel(message.recipient, config, "default_channel")
    if not channel:
        raise ProviderRefused(
            "There is no channel to post to. Set default_channel or pass a recipient.", is_permanent=True
        )
    client = NotifierClient(context, BOT_NAME, config["bot_token"])
    response = await client.post_json(
        f"{context.address(BOT_ID, _ADDRESS)}/chat.postMessage",
        {
            "channel": channel,
            "text": _text(message, _MAX_TEXT_LENGTH, _escaped),
            "unfurl_links": False,
            "unfurl_media": False,
        },
        {"Authorization": f"Bearer {config['bot_token']}"},
    )
    fields = response.fields
    if not response.is_success or fields.get("ok") is not True:
        error = str(fields.get("error") or ("" if response.is_success else response.text))
        needed = fields.get("needed")
        explanation = f"{error} (needed: {needed})" if needed else error
        client.refuse(response, explanation or "unexpected response", is_permanent=error in _PERMANENT)
    return SendReceipt(provider_id=str(fields.get("ts", "")), detail=client.quote(fields.get("channel")))


def _text(message: NotificationMessage, max_length: int, escape: Callable[[str], str]) -> str:
    """Return the subject in bold above the text."""
    subject = f"*{message.subject}*\n" if message.subject and message.subject != message.text else ""
    return truncate(subject + message.text, max_length, _TRUNCATION_MARK, escape=escape)


def _escaped(text: str) -> str:
    """Escape the characters that begin a link or a mention in Slack's markup."""
    return text.translate(_SPECIAL)


def _without_mentions(text: str) -> str:
    return _CALL_TO_ALL.sub("@\u200b", _escaped(text))

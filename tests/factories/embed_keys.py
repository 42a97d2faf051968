"""Embed keys, straight into the database."""

from retinue.agents.models import Agent
from retinue.embed.models import EmbedKey
from retinue.kit.crypto import Sealed
from retinue.kit.ids import hash_token, new_token


def some_embed_key(agent: Agent, created_by: str, name: str = "Key", text: str = "") -> EmbedKey:
    """A key with this text, or with one that nobody knows."""
    return EmbedKey(
        agent_id=agent.id,
        name=name,
        key_prefix="emb_12345678",
        key_hash=hash_token(text or new_token()),
        identity_secret=Sealed.of("secret"),
        allowed_domains=[],
        allow_attachments=True,
        created_by=created_by,
    )


def embed_key_of(agent_id: str) -> str:
    """The text of the key that the contract tests give to an agent."""
    return f"emb_{agent_id}"

from tests.chat.conftest import agent, cast, desk, provider, remote, weather
from tests.webhooks.conftest import hooks, receiver

__all__ = ["agent", "cast", "desk", "hooks", "provider", "receiver", "remote", "weather"]

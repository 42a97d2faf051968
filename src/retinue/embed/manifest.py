from retinue.chat.turn.suspension import EMBED_KEY_TOKENS_CONTINUATION
from retinue.embed.events import (
    EmbedKeyCreated,
    EmbedKeyRevoked,
    EmbedKeyRotated,
    EmbedKeyUpdated,
    HostedPageClosed,
    HostedPageUpdated,
)
from retinue.embed.hosted.page_models import HostedPage, HostedSlug
from retinue.embed.models import EmbedKey, VisitorFile, WidgetDesign, WidgetInstallation
from retinue.embed.principals import authenticate
from retinue.embed.queries import delete_keys_of_agent, find_keys_of_agent
from retinue.embed.routes import ROUTES
from retinue.embed.token_budget import count_remaining_tokens
from retinue.kit.context.continuations import Continuation
from retinue.kit.context.manifest import Authenticator, Manifest
from retinue.kit.context.references import Reference

manifest = Manifest(
    name="embed",
    records=(EmbedKey, VisitorFile, WidgetDesign, WidgetInstallation, HostedPage, HostedSlug),
    routes=ROUTES,
    events=(
        EmbedKeyCreated,
        EmbedKeyRevoked,
        EmbedKeyRotated,
        EmbedKeyUpdated,
        HostedPageUpdated,
        HostedPageClosed,
    ),
    authenticators=(Authenticator("embed_key", authenticate),),
    references=(
        Reference(to="agent", kind="embed_keys", find=find_keys_of_agent, detach=delete_keys_of_agent),
    ),
    continuations=(Continuation(EMBED_KEY_TOKENS_CONTINUATION, count_remaining_tokens),),
)

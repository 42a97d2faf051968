from retinue.chat.pausing import TOKENS_OF_KEY
from retinue.embed.events import EmbedKeyCreated, EmbedKeyRevoked, EmbedKeyRotated
from retinue.embed.models import EmbedKey
from retinue.embed.principals import authenticate
from retinue.embed.queries import delete_keys_of_agent, find_keys_of_agent
from retinue.embed.routes import ROUTES
from retinue.embed.usage import count_rest
from retinue.kit.continuations import Continuation
from retinue.kit.manifest import Authenticator, Manifest
from retinue.kit.references import Reference

manifest = Manifest(
    name="embed",
    records=(EmbedKey,),
    routes=ROUTES,
    events=(EmbedKeyCreated, EmbedKeyRevoked, EmbedKeyRotated),
    authenticators=(Authenticator("embed_key", authenticate),),
    references=(
        Reference(to="agent", kind="embed_keys", find=find_keys_of_agent, detach=delete_keys_of_agent),
    ),
    continuations=(Continuation(TOKENS_OF_KEY, count_rest),),
)

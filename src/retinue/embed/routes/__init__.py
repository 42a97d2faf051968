from retinue.embed.routes.completions import routes as completions
from retinue.embed.routes.hosted_pages import documents as hosted_documents
from retinue.embed.routes.hosted_pages import member_routes as hosted_for_members
from retinue.embed.routes.hosted_pages import public_routes as hosted_in_public
from retinue.embed.routes.hosted_pages import routes as hosted_pages
from retinue.embed.routes.keys import routes as keys
from retinue.embed.routes.public import routes as public
from retinue.embed.routes.public_turns import routes as public_turns
from retinue.embed.routes.widget import routes as widget
from retinue.embed.routes.widget_settings import public_routes as public_widget
from retinue.embed.routes.widget_settings import routes as widget_settings

ROUTES = (
    keys,
    public,
    public_turns,
    public_widget,
    completions,
    widget_settings,
    hosted_pages,
    hosted_in_public,
    hosted_for_members,
    hosted_documents,
    widget,
)

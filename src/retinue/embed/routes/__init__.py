from retinue.embed.routes.completions import routes as completions
from retinue.embed.routes.keys import routes as keys
from retinue.embed.routes.public import routes as public
from retinue.embed.routes.widget import routes as widget
from retinue.embed.routes.widget_settings import public_routes as public_widget
from retinue.embed.routes.widget_settings import routes as widget_settings

ROUTES = (keys, public, public_widget, completions, widget_settings, widget)

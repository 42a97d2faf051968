from retinue.embed.routes.completions import routes as completions
from retinue.embed.routes.keys import routes as keys
from retinue.embed.routes.public import routes as public
from retinue.embed.routes.widget import routes as widget

ROUTES = (keys, public, completions, widget)

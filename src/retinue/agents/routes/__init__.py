from retinue.agents.routes.agents import routes as agents
from retinue.agents.routes.attachments import routes as attachments
from retinue.agents.routes.batch import routes as batch
from retinue.agents.routes.drafts import routes as drafts
from retinue.agents.routes.knowledge import routes as knowledge
from retinue.agents.routes.portable import routes as portable
from retinue.agents.routes.sub_agents import routes as sub_agents
from retinue.agents.routes.versions import routes as versions
from retinue.agents.routes.web_search import routes as web_search

ROUTES = (portable, agents, batch, drafts, versions, attachments, sub_agents, web_search, knowledge)

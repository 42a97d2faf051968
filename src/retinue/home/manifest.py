from retinue.home.routes import routes
from retinue.home.service import HomeCache
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState

manifest = Manifest(
    name="home", routes=(routes,), process_state=(ProcessState(HomeCache, lambda _: HomeCache()),)
)

from retinue.files.events import FileDeleted, FileShared, FileUploaded
from retinue.files.jobs import JOBS
from retinue.files.models import File
from retinue.files.routes import public, routes
from retinue.kit.context.manifest import Manifest

manifest = Manifest(
    name="files",
    records=(File,),
    routes=(routes, public),
    events=(FileUploaded, FileDeleted, FileShared),
    jobs=JOBS,
)

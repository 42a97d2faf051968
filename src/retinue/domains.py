"""The one registry: every domain's manifest, lowest first."""

from retinue.access.manifest import manifest as access
from retinue.adapters.mail.outgoing import manifest as mail
from retinue.auth.manifest import manifest as auth
from retinue.credentials.manifest import manifest as credentials
from retinue.files.manifest import manifest as files
from retinue.kit.http.discovery import manifest as kit
from retinue.providers.manifest import manifest as providers
from retinue.tenants.manifest import manifest as tenants
from retinue.tools.manifest import manifest as tools
from retinue.users.manifest import manifest as users

DOMAINS = (kit, mail, tenants, access, files, users, credentials, auth, providers, tools)

"""Settings that others decide for a tenant, for its administrators to read."""

from retinue.kit.context import Context
from retinue.tenants.queries import own_tenant
from retinue.tenants.schemas import DecidedSetting, SettingDecidedBy, TenantSettings


async def load_tenant_settings(ctx: Context) -> TenantSettings:
    """Return what holds for the tenant and who or which variable decides it; no value is a secret."""
    settings, tenant = ctx.settings, await own_tenant(ctx)
    by_operator: dict[str, tuple[str | int | bool | None, str]] = {
        "sign_up": (settings.signup_policy(), "RETINUE_SIGNUP"),
        "sends_mail": (settings.smtp_url is not None, "RETINUE_SMTP_URL"),
        "mail_from": (settings.mail_from or None, "RETINUE_MAIL_FROM"),
        "base_url": (settings.base_url or None, "RETINUE_BASE_URL"),
        "stores_traces": (settings.traces, "RETINUE_TRACES"),
        "trace_retention_days": (settings.trace_retention_days, "RETINUE_TRACE_RETENTION_DAYS"),
    }
    plan = DecidedSetting(
        name="plan", value=tenant.plan.value, decided_by=SettingDecidedBy.super_admin, variable=None
    )
    return TenantSettings(
        settings=[
            plan,
            *(
                DecidedSetting(
                    name=name, value=value, decided_by=SettingDecidedBy.operator, variable=variable
                )
                for name, (value, variable) in by_operator.items()
            ),
        ]
    )

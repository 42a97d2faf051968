"""The eleven categories of the registry, in the order in which they are shown."""

from enum import StrEnum

import msgspec


class Category(StrEnum):
    crm = "crm"
    email = "email"
    database = "database"
    analytics = "analytics"
    automation = "automation"
    payment = "payment"
    storage = "storage"
    social = "social"
    development = "development"
    webhook = "webhook"
    custom = "custom"


class Shown(msgspec.Struct, frozen=True):
    name: str
    description: str
    icon: str


CATEGORIES: dict[Category, Shown] = {
    Category.crm: Shown("CRM", "Customers, contacts and deals", "users"),
    Category.email: Shown("Email", "Sending and reading mail", "mail"),
    Category.database: Shown("Database", "Queries against databases", "database"),
    Category.analytics: Shown("Analytics", "Metrics, reports and tracking", "bar-chart"),
    Category.automation: Shown("Automation", "Starting and steering other systems", "zap"),
    Category.payment: Shown("Payment", "Invoices, payments and subscriptions", "credit-card"),
    Category.storage: Shown("Storage", "Files and documents", "hard-drive"),
    Category.social: Shown("Social", "Social networks and messaging", "share"),
    Category.development: Shown("Development", "Repositories, issues and builds", "code"),
    Category.webhook: Shown("Webhook", "Calls to a single address", "link"),
    Category.custom: Shown("Custom", "Everything else", "box"),
}

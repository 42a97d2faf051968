"""Tool categories, in display order."""

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


class CategoryInfo(msgspec.Struct, frozen=True):
    name: str
    description: str
    icon: str


CATEGORIES: dict[Category, CategoryInfo] = {
    Category.crm: CategoryInfo("CRM", "Customers, contacts and deals", "users"),
    Category.email: CategoryInfo("Email", "Sending and reading mail", "mail"),
    Category.database: CategoryInfo("Database", "Queries against databases", "database"),
    Category.analytics: CategoryInfo("Analytics", "Metrics, reports and tracking", "bar-chart"),
    Category.automation: CategoryInfo("Automation", "Starting and steering other systems", "zap"),
    Category.payment: CategoryInfo("Payment", "Invoices, payments and subscriptions", "credit-card"),
    Category.storage: CategoryInfo("Storage", "Files and documents", "hard-drive"),
    Category.social: CategoryInfo("Social", "Social networks and messaging", "share"),
    Category.development: CategoryInfo("Development", "Repositories, issues and builds", "code"),
    Category.webhook: CategoryInfo("Webhook", "Calls to a single address", "link"),
    Category.custom: CategoryInfo("Custom", "Everything else", "box"),
}

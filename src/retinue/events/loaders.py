from typing import Annotated

from retinue.events.errors import EventNotFound, SubscriptionNotFound
from retinue.events.models import Subscription
from retinue.kit.events.models import EventEntry
from retinue.kit.http.routing import path_loader

EventById = Annotated[EventEntry, path_loader(EventEntry, "event_id", EventNotFound)]
SubscriptionById = Annotated[Subscription, path_loader(Subscription, "subscription_id", SubscriptionNotFound)]

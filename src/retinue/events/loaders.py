from typing import Annotated

from retinue.events.errors import EventNotFound, SubscriptionNotFound
from retinue.events.models import Subscription
from retinue.kit.events.models import EventEntry
from retinue.kit.http.routing import loaded

EventById = Annotated[EventEntry, loaded(EventEntry, "event_id", EventNotFound)]
SubscriptionById = Annotated[Subscription, loaded(Subscription, "subscription_id", SubscriptionNotFound)]

"""Here the models that hear and speak are a provider's: nobody waits for the embedded ones."""

from typing import Any

import pytest

from retinue.app import Service

SPEECH = {"stt_model": "mistral/hears", "tts_model": "mistral/speaks"}


@pytest.fixture
async def service(make_service: Any) -> Service:
    return await make_service(**SPEECH)

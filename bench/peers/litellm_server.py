"""LiteLLM's proxy, as its documentation starts it; run by the Python that has it installed.

python -m bench.peers.litellm_server PORT URL-OF-THE-PROVIDER FOLDER
"""

import json
import sys
from pathlib import Path

from litellm.proxy.proxy_cli import run_server  # type: ignore[import-not-found]

port, provider, folder = sys.argv[1:]
# JSON is YAML too.
config = Path(folder) / "litellm.yaml"
parameters = {"model": "openai/words", "api_base": provider, "api_key": "sk-bench"}
config.write_text(
    json.dumps(
        {
            "model_list": [{"model_name": "words", "litellm_params": parameters}],
            "litellm_settings": {"telemetry": False},
        }
    )
)
sys.argv = ["litellm", "--config", str(config), "--host", "127.0.0.1", "--port", port]
run_server()

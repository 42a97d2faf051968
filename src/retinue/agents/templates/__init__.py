"""Templates of agents, one TOML file each; the name of the file is the template's id."""

import functools
from importlib import resources

import msgspec

from retinue.agents.schemas import AgentTemplate


@functools.cache
def load_templates() -> list[AgentTemplate]:
    """Return the templates by name."""
    files = [file for file in resources.files(__name__).iterdir() if file.name.endswith(".toml")]
    templates = [
        msgspec.convert(
            {"id": file.name.removesuffix(".toml"), **msgspec.toml.decode(file.read_text("utf-8"))},
            AgentTemplate,
        )
        for file in files
    ]
    return sorted(templates, key=lambda template: template.name)

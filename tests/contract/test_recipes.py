"""Tests of the recipes in CONTRIBUTING: the domain that they build is formatted, typed and works."""

import subprocess
import sys
from pathlib import Path

import msgspec

from tests.contract.recipes import AGENTS, ROOT, apply_diff, read_recipes, write_domain

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
# The modules of the changed folder win; those that it does not have are the product's.
_WITH_CHANGED_AGENTS = """
import runpy, sys, retinue.agents
retinue.agents.__path__.insert(0, sys.argv[2])
runpy.run_module("tests.contract.recipes", run_name="__main__")
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_domain_of_the_recipes_works(tmp_path: Path) -> None:
    write_domain(tmp_path, read_recipes(PAGE))
    ran = run("tests.contract.recipes", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert msgspec.json.decode(ran.stdout) == [201, "Tools", "box_sealed", "box_not_found", True]


def test_the_setting_of_the_recipe_reaches_every_shape(tmp_path: Path) -> None:
    apply_diff(tmp_path, PAGE)
    ran = subprocess.run(
        [sys.executable, "-c", _WITH_CHANGED_AGENTS, str(tmp_path), str(tmp_path / AGENTS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    kept = ["END"]
    assert msgspec.json.decode(ran.stdout) == [422, kept, kept, kept, kept, kept, []]


def test_the_recipes_keep_our_rules(tmp_path: Path) -> None:
    write_domain(tmp_path / "retinue", read_recipes(PAGE))
    # Elsewhere than in `src`, ruff does not know its own package.
    for rule in (("check", "--ignore=I001,INP001"), ("format", "--check")):
        checked = run(
            "ruff", *rule, "--quiet", "--config", str(ROOT / "pyproject.toml"), str(tmp_path / "retinue")
        )
        assert checked.returncode == 0, checked.stdout


def test_every_block_of_python_is_a_file_of_the_domain() -> None:
    assert PAGE.count("```python") == len(read_recipes(PAGE))


def test_a_recipe_that_is_out_of_date_is_found(tmp_path: Path) -> None:
    write_domain(tmp_path, read_recipes(PAGE.replace("implement(SEAL_BOX, seal_box)", "job(seal_box)")))
    assert run("tests.contract.recipes", str(tmp_path)).returncode != 0

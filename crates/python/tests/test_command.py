"""The command that the wheel brings along."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tamis

# Beside the interpreter of the environment that the wheel was installed into.
PROGRAM = shutil.which("tamis", path=str(Path(sys.executable).parent))


@pytest.fixture
def run(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "oven.md").write_text("# Oven\n\nHeat the oven to 220 degrees before baking bread.\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TAMIS_")}
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        environment[name] = str(tmp_path / "home")

    def run(*arguments, **others):
        return subprocess.run(
            [PROGRAM, *arguments], cwd=tree, env=environment, capture_output=True, text=True, timeout=120, **others
        )

    run.tree, run.environment = tree, environment
    return run


def test_it_is_the_whole_program(run):
    assert run("--version").stdout == f"tamis {tamis.__version__}\n"
    found = run("search", "--json", "how hot should the oven be for bread")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["results"][0]["path"] == "oven.md"
    nothing = run("search", "quarterly earnings of shipping companies")
    assert nothing.returncode == 1
    wrong = run("serch", "oven")
    assert wrong.returncode == 2 and "search" in wrong.stderr
    assert run("cut", input="3\n2.9\n0.1\n").stdout == "3\n2.9\n"


def test_clients_are_configured_to_start_the_script(run):
    done = run("install", "--client", "cursor", "--dry-run")
    assert done.returncode == 0 and json.dumps(PROGRAM) in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_stops_it(run):
    process = subprocess.Popen(
        [PROGRAM, "index", "--watch"], cwd=run.tree, env=run.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode in (0, 130) and b"Traceback" not in stderr, stderr

"""What several modules of tests share."""

import os

import pytest


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home of the tests' own, so that no configuration of the user's counts."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        for name in [name for name in os.environ if name.startswith("TAMIS_")]:
            patch.delenv(name)
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            patch.setenv(name, str(home))
        patch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
        patch.setenv("ANONYMIZED_TELEMETRY", "False")
        yield

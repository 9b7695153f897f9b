"""What all tests share: Hypothesis' settings and the folder of reference values."""

from pathlib import Path

import pytest
from hypothesis import settings

# Derandomized: the same examples in every run, so that a red run is red again.
settings.register_profile(
    "pairboot", derandomize=True, deadline=None, max_examples=50, print_blob=True
)
# For suites that look at versions and missing packages: pytest --hypothesis-profile short
settings.register_profile("short", settings.get_profile("pairboot"), max_examples=10)
settings.load_profile("pairboot")


@pytest.fixture(scope="session")
def shared():
    """Folder with reference values next to the repository; the test is skipped without it."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the folder `shared` is not beside the repository")
    return folder

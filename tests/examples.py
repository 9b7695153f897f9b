"""How many random examples a test takes: no more than the profile that was chosen."""

from hypothesis import settings


def max_examples(number):
    """Set Hypothesis' ``max_examples``; a profile with fewer, as the short one, still counts."""
    return settings(max_examples=min(number, settings.default.max_examples))

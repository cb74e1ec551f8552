"""Where things are, as seen from the tests."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = ROOT / ".." / "shared" / "data"
TESTS = ROOT / "tests"
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"

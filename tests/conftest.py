# SPDX-License-Identifier: Apache-2.0
"""Fixed seeds, the hypothesis profile and the golden-file fixture of the whole suite."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import hypothesis
import numpy as np
import pytest

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25)
hypothesis.settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


@pytest.fixture(autouse=True)
def _seed() -> None:
    random.seed(0)
    np.random.seed(0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with ``tests/golden/<test file>/<test name><suffix>``; a missing file fails."""

    def check(text: str, suffix: str = ".txt") -> None:
        module = Path(request.node.path).relative_to(TESTS).with_suffix("")
        name = re.sub(r"[^\w.\-]+", "_", request.node.name).strip("_")
        path = GOLDEN / module / f"{name}{suffix}"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        if not path.exists():
            pytest.fail(f"{path.relative_to(TESTS)} is missing; run pytest --update-golden")
        assert text == path.read_text()

    return check

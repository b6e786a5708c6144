"""Pictures of the documentation: a cave and a night are dark at gamma 0 and can be seen at gamma 2."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
MOST_BYTES = 200_000


@pytest.mark.parametrize("scene", ["cave", "night"])
def test_a_dark_scene_can_be_seen_at_gamma_2(scene):
    spec = importlib.util.spec_from_file_location("world_pictures", ROOT / "tools" / "world_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    dark, light = (_luminance(picture[:126]) for picture in tool.at_gammas(getattr(tool, scene)()))  # without the hotbar
    assert dark.mean() < 60
    assert light.mean() > 1.4 * dark.mean()
    assert np.percentile(light, 90) > 90


def test_the_picture_of_both_is_small():
    assert (ROOT / "docs" / "images" / "world" / "gamma.png").stat().st_size < MOST_BYTES


def _luminance(picture: np.ndarray) -> np.ndarray:
    """Of Rec. 709, 0 to 255."""
    return picture.astype(float) @ np.array([0.2126, 0.7152, 0.0722])

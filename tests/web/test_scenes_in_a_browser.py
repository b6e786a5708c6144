"""Scenes drawn by a browser against the exact pictures: every fifth scene of `packages/blockworld/bench/scenes.py`."""

import pytest

from bench.scenes import compare


@pytest.mark.parametrize("uses_processor", [False, True], ids=["by a shader", "by the processor"])
@pytest.mark.parametrize("chromium", ["webgl"], indirect=True)
def test_a_browser_draws_scenes_as_the_ray_caster_does(chromium, uses_processor):
    page = chromium.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    found = compare(page, every=5, uses_processor=uses_processor)
    page.close()
    assert errors == []
    assert len(found) == 12
    for one in found:
        assert one["mean"] <= 1, one
        assert one["off_8"] <= 0.01, one
        assert one["middle"] <= 4, one  # the cross inverts what is under it

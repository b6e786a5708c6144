"""A worker that codes frames as CrowdPlay does: JPEG of quality 95, base64, in JSON. For comparison in bench.play only."""

from __future__ import annotations

import base64
import json
from typing import Any

from interplay.envs import Frame
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameEncoder
from interplay.play.workers import live, worker


class CrowdPlayEncoder(FrameEncoder):
    """`cv2.imencode(".jpg")` at its default quality of 95 and 4:2:0, as a data address inside a JSON message."""

    def encode(self, frame: Frame, *, step: int, time_ms: int, reward: float, flags: int = 0, change: Any = None) -> bytes:
        """One message."""
        import cv2

        rgb = frame.rgb()
        _, jpeg = cv2.imencode(".jpg", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR))
        message: dict[str, Any] = {
            "obs": {"image": "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode()},
            "reward": reward,
            "done": bool(flags),
            "step_iter": step,
        }
        # The 20-byte header is ours, so that the same client can count; it weighs nothing beside the picture.
        return wire.pack_header(wire.JPEG_FRAME, flags, 0, step, 0, time_ms, reward) + json.dumps(message).encode()


def main(descriptor: int) -> None:
    """Run a worker that codes frames so."""
    import cv2

    cv2.setNumThreads(1)
    live.FrameEncoder = CrowdPlayEncoder  # type: ignore[misc]
    worker.main(descriptor)

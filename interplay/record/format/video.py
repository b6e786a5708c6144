"""Frame storage `video`: the sealed file's `frame` column holds H.264 access units.

Each row group starts with a key frame and has its frames in order, so a row group can be decoded alone and packet i is frame i.
Decoding H.264 gives the same planes everywhere (the standard is bit-exact), so a hash of the planes proves a frame. The hash
does not cover the conversion to RGB, because libraries round it differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.record.errors import RecordingError
from interplay.record.format.schema import Header, frame_hash

if TYPE_CHECKING:
    from av import VideoFrame

CRF = 16


def encode_group(jpegs: pa.ChunkedArray, header: Header) -> tuple[pa.Array, pa.Array]:
    """Encode JPEGs of a journal as the access units of one row group; also return the hash of each frame after decoding."""
    import av
    import simplejpeg

    encoder = cast(av.VideoCodecContext, av.CodecContext.create("libx264", "w"))
    encoder.width, encoder.height = header.width, header.height
    encoder.pix_fmt = "yuv444p"  # keeps thin coloured lines, and allows odd sizes
    encoder.time_base = Fraction(1, 90_000)
    encoder.framerate = Fraction(header.task.frame_rate_hz).limit_denominator(1001)
    encoder.options = {"crf": str(CRF), "preset": "veryfast", "bf": "0", "g": "100000", "sc_threshold": "0"}
    packets: list[bytes] = []
    for index, jpeg in enumerate(jpegs):
        frame = av.VideoFrame.from_ndarray(simplejpeg.decode_jpeg(jpeg.as_py()), format="rgb24")
        frame.pts = index
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    packets += [bytes(packet) for packet in encoder.encode(None)]
    if len(packets) != len(jpegs):
        raise RecordingError(
            f"the encoder made {len(packets)} packets of {len(jpegs)} frames; this is a fault of the H.264 library"
        )
    hashes = [plane_hash(frame) for frame in decode(packets)]
    return pa.array(packets, pa.binary()), pa.array(hashes, pa.uint32())


def decode(packets: Iterable[bytes]) -> Iterator[VideoFrame]:
    """Yield the frames of one row group, from its key frame on; `RecordingError` if the packets are damaged."""
    import av
    from av.error import FFmpegError

    decoder = cast(av.VideoCodecContext, av.CodecContext.create("h264", "r"))
    decoder.thread_count = 1
    try:
        for data in packets:
            yield from decoder.decode(av.Packet(data))
        yield from decoder.decode(None)
    except FFmpegError as error:
        raise RecordingError(f"the video does not decode: {error}") from error


def plane_hash(frame: VideoFrame) -> int:
    return frame_hash(frame.to_ndarray())


class VideoSource:
    """Decodes frames, one row group at a time."""

    def __init__(self, file: pq.ParquetFile) -> None:
        self._file = file
        counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._group = -1
        self._frames: list[VideoFrame] = []

    def read(self, start: int, stop: int) -> Iterator[np.ndarray]:
        for index in range(start, stop):
            group = int(np.searchsorted(self._starts, index, side="right")) - 1
            if group != self._group:
                column = self._file.read_row_group(group, columns=["frame"]).column(0)
                self._frames = list(decode(column.to_pylist()))
                self._group = group
            yield self._frames[index - int(self._starts[group])].to_ndarray(format="rgb24")

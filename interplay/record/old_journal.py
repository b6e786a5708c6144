"""Copy the undamaged part of a segment without checksums (of a development version) to standard output, with checksums.

`interplay.record.journal` runs this module as a separate process: Arrow does not check its input, so a damaged file may
kill it. Exit status 0 means that the whole file was undamaged.
"""

from __future__ import annotations

import json
import sys
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from interplay.record.format import spaces
from interplay.record.format.schema import METADATA_KEY, Header, frame_hash
from interplay.record.journal import Messages
from interplay.record.sealed.seal import pictures


def copy(path: str, out: BinaryIO) -> bool:
    """Copy batches up to the first torn or damaged one; return whether all are undamaged."""
    with pa.OSFile(path) as file:
        stream = pa.ipc.open_stream(file)
        messages = Messages(stream.schema)
        out.write(messages.schema)  # also of another version, so that the reader can say which
        out.flush()
        header = Header.from_json(json.loads((stream.schema.metadata or {})[METADATA_KEY]))
        num_rows, last = header.first_step, np.zeros(header.height * header.width, np.uint8)
        while True:
            out.flush()  # the next one may be the death of us
            try:
                batch, metadata = stream.read_next_batch_with_custom_metadata()
            except StopIteration:
                return file.tell() == file.size()
            batch.validate(full=True)
            if batch.num_rows and not _is_right(batch, header, num_rows, last):
                return False
            num_rows += batch.num_rows
            out.write(messages.batch(batch, metadata))


def _is_right(batch: pa.RecordBatch, header: Header, num_rows: int, last: np.ndarray) -> bool:
    """Check that steps count up, actions lie in their space, rewards and infos are valid, and pictures fit their hashes."""
    if batch.column("step").to_pylist() != list(range(num_rows, num_rows + batch.num_rows)):
        return False
    for seat, space in header.action_spaces.items():
        actions = batch.column(f"action.{seat}").slice(int(num_rows == 0))
        rewards = np.abs(batch.column(f"reward.{seat}").drop_null().to_numpy())
        if not all(map(space.contains, spaces.from_arrow(space, actions))):
            return False
        if ((rewards > 0) & (rewards < np.finfo(float).tiny)).any():  # no world gives those; bits that fell over do
            return False
    if not all(type(json.loads(text)) is dict for text in batch.column("info").to_pylist()):
        return False
    if header.frames == "video":
        import simplejpeg

        shape = (header.height, header.width, 3)
        return all(simplejpeg.decode_jpeg(jpeg).shape == shape for jpeg in batch.column("frame").to_pylist())
    if header.frames == "indexed":
        seen = [frame_hash(picture) for picture in pictures(batch.select(["frame"]), last)]
        return seen[: batch.num_rows] == batch.column("frame_hash").to_pylist()
    return True


if __name__ == "__main__":
    try:
        sys.exit(not copy(sys.argv[1], sys.stdout.buffer))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")

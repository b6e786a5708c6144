"""Record episodes in journals, seal each journal as a Parquet file, and list, replay, prove and export episodes.

>>> import tempfile, interplay.record
>>> archive = interplay.record.open(tempfile.mkdtemp())
>>> archive.episodes(task="atari/breakout", actor="human", where=["score >= 200"])
[]
"""

from interplay.record.archive import Archive, open
from interplay.record.errors import RecordingError
from interplay.record.format.schema import InputTiming, Owner, PaintedPicture
from interplay.record.recorder import Recorder
from interplay.record.recording import Recording
from interplay.record.replay import Resumed, ResumedState, resume
from interplay.record.sealed.episode import OUTCOME_CHECK_SUCCESS, Episode, SeatHeld
from interplay.record.sealed.frames import Frames
from interplay.record.stepper import RecordedEpisode, Step
from interplay.record.verification.verify import Verdict, verify

__all__ = [
    "OUTCOME_CHECK_SUCCESS",
    "Archive",
    "Episode",
    "Frames",
    "InputTiming",
    "Owner",
    "PaintedPicture",
    "RecordedEpisode",
    "Recorder",
    "Recording",
    "RecordingError",
    "Resumed",
    "ResumedState",
    "SeatHeld",
    "Step",
    "Verdict",
    "open",
    "resume",
    "verify",
]

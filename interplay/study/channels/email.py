"""A link sent by e-mail, and a raffle: who finishes may leave an address, which is kept apart from everything they did."""

from __future__ import annotations

from interplay.study.channels.open import OpenChannel


class EmailChannel(OpenChannel):
    """As an open link; the last page asks for an address for the study's raffle (`study/raffle_entries.py`)."""

    name = "email"

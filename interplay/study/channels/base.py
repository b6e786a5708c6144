"""The interface of channels (arrival and departure), and checks of the parameters of a link."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast, get_args

from interplay.study.errors import ArrivalError, StudyError

Outcome = Literal["done", "screened_out", "failed_check", "no_partner", "no_consent", "withdrawn", "nothing_left"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""How a person's visit to a study ends, in this order: the person finished; did not pass the quiz; was banned by the operator,
for example after failed attention checks; had no partner, because nobody came; did not consent; withdrew the consent; found
nothing left to do."""

MAX_VALUE_CHARS = 200
"""Largest number of characters in a parameter's value; the ids of all platforms are far shorter."""

PLATFORM_PARAMETERS = {
    "mturk": ("assignmentId", "hitId", "workerId", "turkSubmitTo"),
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
}
"""Channel -> the parameters that its platform adds to a link."""

UNPAID = ("open", "email")
"""Channels that send no id of the person and pay nobody; the site's own cookie tells people apart."""

TITLES = {"mturk": "Mechanical Turk", "prolific": "Prolific", "open": "an open link", "email": "a link sent by e-mail"}
"""Channel -> its name on pages."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

Query = Mapping[str, str] | Iterable[tuple[str, str]]
"""The parameters of an address: a mapping, or pairs in which a name may occur twice."""


@dataclass(frozen=True)
class Arrival:
    """A person whom a channel sent.

    Attributes:
        channel: `open`, `email`, `mturk` or `prolific`.
        worker: The platform's id of the person; empty if the platform gives no id (open links, previews).
        assignment: The platform's id of this visit: an assignment of MTurk, a submission of Prolific; empty where there is no
            id.
        hit: The platform's id of the task that people take: a HIT of MTurk, a study of Prolific.
        is_preview: Whether the person only looks at the study and has not accepted the task; nothing is stored then.
        submit_to: Checked origin that receives the finished form (MTurk); empty for other channels.
    """

    channel: str
    worker: str = ""
    assignment: str = ""
    hit: str = ""
    is_preview: bool = False
    submit_to: str = ""


@dataclass(frozen=True)
class Departure:
    """How a person leaves the study.

    Attributes:
        kind: `post`: the browser posts `fields` to `url` as a form. `redirect`: the browser goes to `url`. `page`: the person
            stays on our page.
        text: One or two sentences of plain text, shown to the person.
    """

    kind: Literal["post", "redirect", "page"]
    text: str
    url: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Scheme and host of `url`, for the `form-action` policy of the page; empty for `page`."""
        return "/".join(self.url.split("/", 3)[:3])


class Channel(Protocol):
    """A place from which people come and to which they return.
    Each implementation knows the conventions of one platform, but not the study."""

    name: str
    frame_ancestors: tuple[str, ...]
    """Origins whose pages may show the study in a frame; empty: the study is shown only in a page of its own."""
    notice: str
    """A note about the platform for researchers, or empty."""

    def arrival(self, query: Query) -> Arrival:
        """Read the parameters of an opened link (ArrivalError if this platform does not send such parameters)."""
        ...

    def departure(self, arrival: Arrival, outcome: Outcome, results: Mapping[str, str] | None = None) -> Departure:
        """Return how a person leaves (ArrivalError for a preview); `results` are short texts for platforms that store them."""
        ...


def folded(name: str) -> str:
    """Return the name of a parameter in one spelling, without the `amp;` of a link that was copied from HTML.

    >>> {folded(name) for name in ("PROLIFIC_PID", "prolific_pid", "prolificPid", "amp;PROLIFIC_PID")}
    {'prolificpid'}
    """
    return re.sub(r"^(amp;)+|[\W_]", "", name.lower())


def is_of(platform: str, parameter: str, names: Iterable[str]) -> bool:
    """Return whether a parameter has one of these names, in any spelling, or a name that begins with the platform's name."""
    name = folded(parameter)
    return name.startswith(platform) or name in map(folded, names)


def parameters(query: Query, own: Iterable[str] = ()) -> dict[str, str]:
    """Return parameters as one mapping, with names in the spelling of their platform or of `own`, the channel's names.
    Raises ArrivalError if a name has two values."""
    # Starlette's QueryParams is a mapping that hides repeated names.
    every: Callable[[], Iterable[tuple[str, str]]] | None = getattr(query, "multi_items", None)
    if every is not None:
        pairs = list(every())
    else:
        pairs = list(cast(Mapping[str, str], query).items()) if isinstance(query, Mapping) else list(query)
    known = {folded(name): name for name in (*itertools.chain(*PLATFORM_PARAMETERS.values()), *own)}
    found: dict[str, str] = {}
    for written, value in pairs:
        name = known.get(folded(written), written)
        if name in found and found[name] != value:
            raise ArrivalError(f"the link has two different values for {quoted(name)}\n{AGAIN}")
        found[name] = value
    return found


AGAIN = "Open the study again from the page where you accepted it."


def refuse_strangers(channel: str, found: Mapping[str, str], own: Iterable[str] = ()) -> None:
    """Raise ArrivalError if a link has parameters of another platform, because nobody would pay the person who opened it.
    Parameters in `own`, which this channel uses by choice, are allowed."""
    taken = set(own)
    for other, names in PLATFORM_PARAMETERS.items():
        carried = [name for name in found if is_of(other, name, names) and name not in taken]
        if other != channel and carried:
            raise ArrivalError(
                f"this link has {TITLES[other]}'s {' and '.join(carried)}, "
                f"but the study recruits through {TITLES[channel]}\n"
                "Tell the people who run the study: they pasted the address of another study."
            )


def identifier(found: Mapping[str, str], name: str, pattern: re.Pattern[str] = _ID, *, example: str) -> str:
    """Return one checked id of a link (ArrivalError if it is missing, was never filled in, or is not an id)."""
    value = found.get(name, "").strip()
    if not value:
        raise ArrivalError(f"the link has no {name}\n{AGAIN}")
    if "{{%" in value or "%}}" in value:
        raise ArrivalError(
            f"the link's {name} is still the placeholder {quoted(value)}\n"
            "Tell the people who run the study: the platform fills it in when participants are recorded by URL parameters."
        )
    if len(value) > MAX_VALUE_CHARS or not pattern.fullmatch(value):
        raise ArrivalError(f"the link's {name} is not an id: {quoted(value)} (an id looks like {example})\n{AGAIN}")
    return value


def quoted(value: str) -> str:
    """Return up to 40 characters of an untrusted text in quotes, safe to show on a page or terminal."""
    plain = value[:40].encode("ascii", "backslashreplace").decode()
    return repr(plain + ("..." if len(value) > 40 else ""))


def check_departure(arrival: Arrival, outcome: str, channel: str) -> None:
    if outcome not in OUTCOMES:
        raise StudyError(f"{outcome!r} is not an outcome of a visit; choose one of {', '.join(OUTCOMES)}")
    if arrival.is_preview:
        raise ArrivalError("nothing can be handed in from a preview\nAccept the task first, then do it.")
    if arrival.channel != channel:
        raise ArrivalError(f"somebody who came through {arrival.channel!r} cannot leave through {channel!r}")

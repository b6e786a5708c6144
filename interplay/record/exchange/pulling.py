"""Episodes of another server: fetched file by file, each checked by its hash; what was cut off goes on at the same byte."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from interplay.errors import InterplayError, MisuseError
from interplay.files import to_disk
from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.record.exchange.proving import check_names
from interplay.record.sealed import Episode
from interplay.store import episodes as queries
from interplay.store.participants import participant_number

FOLDER = "pulled"
"""Of the data folder: files that are not whole yet."""
ATTEMPTS = 5
"""Times in a row that nothing comes before a pull gives up; it goes on when it is called again."""
_WAIT_S = 0.5
_TIMEOUT_S = 60.0
_CHUNK_BYTES = 1 << 16
_EPISODE_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{7,63}")


class PullError(RecordingError, MisuseError):
    """An address or a token that no episodes can be fetched with."""


class Asked(NamedTuple):
    """Which episodes: of a task, that meet conditions, or of a query that is saved there."""

    task: str | None = None
    where: tuple[str, ...] = ()
    query: str | None = None


@dataclass
class Pulled:
    """What a pull did.

    Attributes:
        fetched: Episodes that are here now.
        there_already: Ids that the catalogue had.
        refused: Id -> why it is not here.
        num_withheld: Episodes that the other server keeps: somebody in them did not agree to a release.
        size_bytes: What came over the line.
    """

    fetched: list[Episode] = field(default_factory=list)
    there_already: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    num_withheld: int = 0
    size_bytes: int = 0


class _Offer(NamedTuple):
    """A file that the other server has."""

    id: str
    sha256: str
    size_bytes: int


def pull_episodes(
    archive: Archive,
    url: str,
    token: str,
    asked: Asked,
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Pulled:
    """Fetch the episodes that a server releases and this archive does not have.

    Args:
        url: Address of the server.
        token: Its operator's.
        on_progress: Is told how many bytes are done, and of how many.
        sleep: Waits before another attempt, seconds.
    Raises:
        PullError: If the server cannot be asked so.
        RecordingError: If it does not answer. What came is kept, and the next pull goes on there.
    """
    if not re.match(r"https?://[^/]", url):
        raise PullError(f"{url!r} is no address of a server\nWrite it as https://lab.example")
    result = Pulled()
    folder = archive.root / FOLDER
    folder.mkdir(exist_ok=True)
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=_TIMEOUT_S) as client:
        line = _Line(client, sleep)
        offers = list(_offers(line, asked, result))
        with archive.database.read() as session:
            known = set(queries.episode_ids(session))
        result.there_already = [offer.id for offer in offers if offer.id in known]
        wanted = [offer for offer in offers if offer.id not in known]
        total, done = sum(offer.size_bytes for offer in wanted), 0
        on_progress(done, total)
        for offer in wanted:
            start = done

            def came(size: int, start: int = start) -> None:
                on_progress(start + size, total)

            try:
                result.fetched.append(_fetch(archive, line, folder, offer, came))
            except _LineError:
                raise
            except InterplayError as error:
                result.refused[offer.id] = str(error)
            done = start + offer.size_bytes
            on_progress(done, total)
        result.size_bytes = line.size_bytes
    return result


class _LineError(RecordingError):
    """The server does not answer any more."""


class _Line:
    """Requests that are sent again when the line is cut; what they have brought counts as new courage."""

    def __init__(self, client: httpx.Client, sleep: Callable[[float], None]) -> None:
        self._client = client
        self._sleep = sleep
        self.size_bytes = 0

    def json(self, path: str, parameters: list[tuple[str, str]]) -> dict[str, Any]:
        """A JSON object."""
        for attempt in range(ATTEMPTS):
            try:
                answer = self._client.get(path, params=parameters)
                self._check(answer)
                document = answer.json()
                if not isinstance(document, dict):
                    raise PullError(f"{self._client.base_url} does not answer as an Interplay server\nCheck the address.")
                return document
            except (httpx.TransportError, _BusyError) as error:
                self._wait(attempt, error)
            except ValueError:
                raise PullError(f"{self._client.base_url} does not answer as an Interplay server\nCheck the address.") from None
        raise AssertionError("unreachable")

    def file(self, path: str, part: Path, size_bytes: int, came: Callable[[int], None]) -> None:
        """Append to a part of a file until it has its size."""
        attempt = 0
        while (have := part.stat().st_size if part.exists() else 0) < size_bytes:
            try:
                with self._client.stream("GET", path, headers={"Range": f"bytes={have}-"} if have else {}) as answer:
                    if answer.is_error:
                        answer.read()
                    self._check(answer)
                    goes_on = answer.status_code == 206
                    with part.open("ab" if goes_on else "wb") as file:
                        for chunk in answer.iter_raw(_CHUNK_BYTES):
                            file.write(chunk[: size_bytes - file.tell()])
                            file.flush()
                            self.size_bytes += len(chunk)
                            attempt = 0
                            came(file.tell())
                if part.stat().st_size <= have:
                    raise _BusyError("it sent nothing")
            except (httpx.TransportError, _BusyError) as error:
                self._wait(attempt, error)
                attempt += 1

    def _check(self, answer: httpx.Response) -> None:
        """Refuse an answer that is none."""
        where = str(self._client.base_url)
        if answer.status_code in (401, 403):
            raise PullError(
                f"{where} does not accept this token\nThe operator's token is in operator.token of that server's data folder."
            )
        if answer.status_code in (429, 502, 503, 504):
            raise _BusyError(f"it answers {answer.status_code}")
        if answer.is_error:
            said = answer.headers.get("content-type", "").startswith("application/json") and answer.json()
            message = said.get("message") if isinstance(said, dict) else None
            raise PullError(f"{where} answers {answer.status_code}: {message or 'is it an Interplay server of this release?'}")
        if answer.status_code not in (200, 206):
            raise PullError(f"{where} answers {answer.status_code}\nGive the address that it finally has.")

    def _wait(self, attempt: int, error: Exception) -> None:
        if attempt + 1 >= ATTEMPTS:
            raise _LineError(
                f"{self._client.base_url} does not answer: {error}\n"
                "What came is kept. Call the same command again: it goes on where it stopped."
            ) from error
        self._sleep(_WAIT_S * 2**attempt)


class _BusyError(Exception):
    """The server may answer later."""


def _offers(line: _Line, asked: Asked, result: Pulled) -> Iterator[_Offer]:
    """Everything that the server releases of what is asked for."""
    parameters = [("where", one) for one in asked.where]
    parameters += [(name, value) for name, value in (("task", asked.task), ("query", asked.query)) if value is not None]
    offset: int | None = 0
    while offset is not None:
        page = line.json("/api/released", [*parameters, ("offset", str(offset))])
        try:
            result.num_withheld = int(page["num_withheld"])
            for said in page["episodes"]:
                offer = _Offer(str(said["id"]), str(said["sha256"]), int(said["size_bytes"]))
                if not _EPISODE_ID.fullmatch(offer.id) or not re.fullmatch(r"[0-9a-f]{64}", offer.sha256):
                    raise ValueError(f"no id or no hash: {offer.id[:100]!r}")
                yield offer
            following = page["next"]
            if following is not None and int(following) <= offset:
                raise ValueError("its pages go in a circle")
            offset = None if following is None else int(following)
        except (KeyError, TypeError, ValueError) as error:
            raise PullError(f"the list of episodes cannot be read: {error}\nIs that server of this release?") from error


def _fetch(archive: Archive, line: _Line, folder: Path, offer: _Offer, came: Callable[[int], None]) -> Episode:
    """One episode: fetched, checked, in its place and in the catalogue."""
    part = folder / f"{offer.id}-{offer.sha256[:16]}.part"
    if part.exists() and part.stat().st_size > offer.size_bytes:
        part.unlink()
    line.file(f"/api/released/{offer.id}.parquet", part, offer.size_bytes, came)
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != offer.sha256:
        part.unlink()
        raise RecordingError("what came is not the file that was listed: its hash differs\nPull again: it is fetched anew.")
    episode = _checked(part, offer)
    to_disk(part)
    target = archive.episode_path(episode.task_id, episode.id)
    target.parent.mkdir(parents=True, exist_ok=True)
    part.replace(target)
    to_disk(target.parent)
    episode = replace(episode, path=target, sha256=offer.sha256, size_bytes=offer.size_bytes)
    archive.catalogue(episode)
    return episode


def _checked(path: Path, offer: _Offer) -> Episode:
    """The episode in a file that came from elsewhere.

    Raises:
        RecordingError: If it is another one, or names people of that server.
    """
    episode = Episode.open(path)
    try:
        header = episode.header
    except (KeyError, TypeError, ValueError) as error:
        raise RecordingError(f"its header cannot be read: {type(error).__name__}: {error}") from error
    finally:
        episode.close()
    check_names(header.task)
    if (episode.id, header.episode, episode.task_id) != (offer.id, offer.id, header.task.id):
        raise RecordingError(
            f"it holds the episode {episode.id[:100]} of {episode.task_id[:100]}, and {offer.id} was asked for"
        )
    known = [held.actor for held in episode.seats if held.participant_id is not None or participant_number(held.actor)]
    if known or episode.participant_id is not None:
        raise RecordingError("it names participants of that server, who are somebody else here; is it of this release?")
    return episode

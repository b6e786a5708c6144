"""Fetch episodes of another server file by file. Each file is checked by its hash, and a file that was cut off continues."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import httpx
import pyarrow.parquet as pq

from interplay.errors import InterplayError, MisuseError
from interplay.files import sha256_of, to_disk
from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.record.exchange.http_resume import Line, LineError
from interplay.record.exchange.importer import EPISODE_ID, check_code, check_names
from interplay.record.sealed.episode import Episode
from interplay.store import episodes as queries
from interplay.store.participants import participant_number

FOLDER = "pulled"
"""Folder in the data folder for files that are not complete yet."""


class PullError(RecordingError, MisuseError):
    """The address or the token does not allow fetching episodes."""


class Asked(NamedTuple):
    """Choice of episodes to fetch: by task, by conditions, or by a query that is saved on the other server."""

    task: str | None = None
    where: tuple[str, ...] = ()
    query: str | None = None


@dataclass
class Pulled:
    """Result of a pull.

    Attributes:
        fetched: Episodes that were fetched and entered.
        there_already: Ids that were in the catalogue before.
        refused: Id -> why the episode was not entered.
        num_withheld: Number of episodes that the other server withholds, because a person in them did not agree to a release.
    """

    fetched: list[Episode] = field(default_factory=list)
    there_already: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    num_withheld: int = 0
    size_bytes: int = 0


class _Offer(NamedTuple):
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
        sleep: Waits before another attempt; it gets seconds.
    Raises:
        PullError: If the address, the token or the request is not valid for the server.
        RecordingError: If the server does not answer, or a file cannot be written. The next pull continues with the kept bytes.
    """
    try:
        address = httpx.URL(url.rstrip("/"))
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host or address.userinfo:
        raise PullError(f"{url!r} is no address of a server\nWrite it as https://lab.example")
    if not token.isascii() or not token.isprintable():
        raise PullError("the token has characters that no token has\nCopy it from operator.token of that server's data folder.")
    result = Pulled()
    folder = archive.root / FOLDER
    folder.mkdir(exist_ok=True)
    with Line.to(address, {"Authorization": f"Bearer {token}"}, _refusal, sleep) as line:
        offers = list(_offers(line, address, asked, result))
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
            except LineError:
                raise
            except InterplayError as error:
                result.refused[offer.id] = str(error)
            except OSError as error:
                raise RecordingError(
                    f"cannot write to {archive.root}: {error.strerror or error}\n"
                    "The first part is kept. Free some space there, and call the same command again."
                ) from error
            done = start + offer.size_bytes
            on_progress(done, total)
        result.size_bytes = line.size_bytes
    return result


def _refusal(answer: httpx.Response, body: bytes) -> PullError:
    where = answer.url.copy_with(path="/", query=None)
    if answer.status_code in (401, 403):
        return PullError(
            f"{where} does not accept this token\nThe operator's token is in operator.token of that server's data folder."
        )
    if not answer.is_error:
        return PullError(f"{where} answers {answer.status_code}\nGive the address to which this one leads.")
    try:
        message = dict(json.loads(body)).get("message")
    except (ValueError, TypeError, RecursionError):
        message = None
    return PullError(f"{where} answers {answer.status_code}: {message or 'is it an Interplay server of this release?'}")


def _offers(line: Line, url: httpx.URL, asked: Asked, result: Pulled) -> Iterator[_Offer]:
    parameters: list[tuple[str, str | int | float | bool | None]] = [("where", one) for one in asked.where]
    parameters += [(name, value) for name, value in (("task", asked.task), ("query", asked.query)) if value is not None]
    offset: int | None = 0
    while offset is not None:
        try:
            page = json.loads(line.get("/api/released", [*parameters, ("offset", str(offset))]))
            if not isinstance(page, dict):
                raise ValueError("no object")
        except (ValueError, RecursionError):
            raise PullError(f"{url} does not answer as an Interplay server\nCheck the address.") from None
        try:
            result.num_withheld = int(page["num_withheld"])
            for said in page["episodes"]:
                offer = _Offer(str(said["id"]), str(said["sha256"]), int(said["size_bytes"]))
                if not EPISODE_ID.fullmatch(offer.id) or not re.fullmatch(r"[0-9a-f]{64}", offer.sha256):
                    raise ValueError(f"an episode has no valid id or hash: {offer.id[:100]!r}")
                if offer.size_bytes < 1:
                    raise ValueError(f"episode {offer.id} has {offer.size_bytes} bytes")
                yield offer
            following = page["next"]
            if following is not None and (int(following) <= offset or not page["episodes"]):
                raise ValueError("its list of episodes does not end")
            offset = None if following is None else int(following)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise PullError(f"the list of episodes cannot be read: {error}\nIs that server of this release?") from error


def _fetch(archive: Archive, line: Line, folder: Path, offer: _Offer, came: Callable[[int], None]) -> Episode:
    part = folder / f"{offer.id}-{offer.sha256[:16]}.part"
    if part.exists() and part.stat().st_size > offer.size_bytes:
        part.unlink()
    line.file(f"/api/released/{offer.id}.parquet", part, offer.size_bytes, came)
    if sha256_of(part) != offer.sha256:
        part.unlink()
        raise RecordingError("the file is not the one that was listed: its hash differs\nPull again: it is fetched anew.")
    episode = _checked(archive, part, offer)
    to_disk(part)
    target = archive.episode_path(episode.task_id, episode.id)
    target.parent.mkdir(parents=True, exist_ok=True)
    part.replace(target)
    to_disk(target.parent)
    episode = replace(episode, place=target, sha256=offer.sha256, size_bytes=offer.size_bytes)
    archive.catalogue(episode)
    return episode


def _checked(archive: Archive, path: Path, offer: _Offer) -> Episode:
    episode = None
    try:
        episode = Episode.open(path)
        _check_facts(episode)
        check_names(episode.task)
        check_code(archive, episode.task, episode.header.statistics)
        _check_names_of(episode, offer)
        return episode
    except InterplayError:
        raise
    except Exception as error:  # whatever a file that nobody here wrote makes a reader stumble over
        raise RecordingError(f"its facts cannot be read: {type(error).__name__}: {error}") from error
    finally:
        if episode is not None:
            episode.close()


def _check_facts(episode: Episode) -> None:
    held = [episode, *episode.seats]
    counts = [episode.seed, *(one.num_steps for one in held)]
    amounts = [episode.duration_s, *(one.total_reward for one in held), *(one.value or 0 for one in episode.live_measures)]
    texts = [episode.outcome, *(one.actor for one in held), *(one.seat for one in episode.seats)]
    if not all(type(one) is int and abs(one) < 2**63 for one in counts):
        raise ValueError("a count is not a whole number")
    if not all(isinstance(one, int | float) for one in amounts) or not all(isinstance(one, str) for one in texts):
        raise ValueError("an amount or a name in it is not valid")
    if not {one.actor_kind for one in held} <= set(queries.ACTOR_KINDS):
        raise ValueError(f"seats are held by {' or '.join(queries.ACTOR_KINDS)}")
    if (num_rows := pq.read_metadata(episode.path).num_rows) != episode.num_steps + 1:
        raise ValueError(f"it has {num_rows} rows; {episode.num_steps} steps and the last observation were expected")


def _check_names_of(episode: Episode, offer: _Offer) -> None:
    header = episode.header
    if (episode.id, header.episode, episode.task_id) != (offer.id, offer.id, header.task.id):
        raise RecordingError(
            f"it holds the episode {episode.id[:100]} of {episode.task_id[:100]}, but {offer.id} was asked for"
        )
    names = {episode.actor, *(held.actor for held in episode.seats), *(owner.name for owner in header.owners.values())}
    numbers = [one.participant_id for one in (episode, *episode.seats, *header.owners.values())]
    if any(number is not None for number in (*numbers, *map(participant_number, names))):
        raise RecordingError("it names participants of that server by number; does that server run this release?")

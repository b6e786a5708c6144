"""The files that rows of the database name: in the data folder, or in an S3-compatible store, of which the folder has copies.

A key is the path of a file relative to the data folder: `episodes/...`, `media/...`, `models/...`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain, repeat
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from interplay.errors import InterplayError, MisuseError, not_installed
from interplay.files import replacing

log = logging.getLogger("interplay.store")

FOLDERS = ("episodes", "media", "models")
"""Folders of a data folder whose files belong into the store."""
CACHE_VARIABLE = "INTERPLAY_CACHE_GB"
"""Environment variable for the size of the cache of a store, in gigabytes."""
CACHE_GB = 50.0
IN_USE_S = 600.0
"""A file of the cache stays for this many seconds after somebody asked for it: it may be about to be opened."""
PUT_WITHIN_S = 600.0
"""No try to put a file into a store that does not answer begins later than this many seconds after the first."""
_FIRST_WAITS_S = (0.5, 1.0, 2.0)
_WAIT_S = 4.0
"""Pause between later tries to put a file."""
_PIECE_BYTES = 1 << 20


class BlobsError(InterplayError):
    """A file cannot be put into the store or fetched from it."""


class BlobsAddressError(BlobsError, MisuseError):
    """The address of a store is not valid, or names another store than the one that has the files."""


class BlobExistsError(BlobsError):
    """The store has another file under this key."""


class BlobsAwayError(BlobsError):
    """The store does not answer, or refuses; the same may work later."""


class Blobs:
    """Files of a data folder, by key. Safe to share between threads and processes.

    Attributes:
        address: Address of the store; None if the data folder itself keeps the files.
    """

    address: str | None = None

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, key: str) -> Path:
        """Return the local file of a key; it does not exist if there is no such file.
        Raises BlobsAwayError if it would have to be fetched and the store does not answer."""
        return self.root / key

    def is_lost(self, key: str) -> bool:
        """Return whether a file that was put is no longer there, as far as can be told without asking a store."""
        return not (self.root / key).exists()

    def put(self, key: str, file: Path) -> None:
        """Keep a file under a key for good. The same bytes may be put again. Without a store, the file is where it belongs.

        Args:
            file: A complete file; without a store, the one that lies in the data folder at the place of its key.
        Raises:
            BlobExistsError: If the key has other bytes.
            BlobsAwayError: If the store did not answer for ten minutes.
            FileNotFoundError: If there is no such file to put.
        """

    def check(self) -> None:
        """Raise BlobsAwayError if the store cannot be used."""

    def fetch(self, folder: str, ending: str = "") -> Path:
        """Return a local folder, such as `models/NAME`, with all its files, or those whose names have this ending."""
        return self.root / folder

    def url(self, key: str, seconds: float) -> str | None:
        """Return a signed address under which anybody can get a file of a store for some seconds; None without a store. It is
        for released data and for the operator. Judges never get one: each judge gets other bytes
        (`record/films/variation.py`)."""
        return None

    def delete(self, key: str) -> None:
        (self.root / key).unlink(missing_ok=True)

    def replace(self, key: str, file: Path) -> None:
        """Put other bytes under a key of the store, without waiting. Only for a key to which no row leads yet, or whose row the
        same transaction changes."""

    def keys(self, folder: str) -> set[str]:
        """Return the keys of all files in a folder, such as `episodes`. Names that begin with a dot are left out."""
        found = (path.relative_to(self.root) for path in (self.root / folder).rglob("*") if path.is_file())
        return {path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts)}


class StoredBlobs(Blobs):
    """Files in an S3-compatible store. The data folder has copies of them: a copy that was not used for long leaves it when all
    copies are larger than the limit, but only if the store has the file.

    Args:
        address: `s3://BUCKET` or `s3://BUCKET/PREFIX`. Credentials, region and endpoint are read from the variables `AWS_*`.
        cache_gb: Largest size of all copies, in gigabytes.
        wait: Called with the number of seconds to wait for a store that does not answer.
        clock: Seconds from any fixed moment.
    """

    def __init__(
        self,
        root: Path,
        address: str,
        *,
        cache_gb: float | None = None,
        wait: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(root)
        try:
            import obstore
        except ModuleNotFoundError as error:
            raise BlobsError(not_installed(f"the store {address} needs", error.name, "s3")) from None
        from obstore import store

        self.address = address
        self._cache_bytes = 1e9 * _cache_gb() if cache_gb is None else 1e9 * cache_gb
        self._wait = wait
        self._clock = clock
        self._obstore = obstore
        self._grown_bytes = self._cache_bytes  # so that the first file that comes looks at those of before
        options = {"allow_http": True, "connect_timeout": "5s", "timeout": "10m"}
        retry = {"max_retries": 2, "retry_timeout": timedelta(seconds=10)}
        try:
            self._store = store.from_url(address, client_options=options, retry_config=retry)
        except obstore.exceptions.BaseError as error:
            raise BlobsAddressError(f"the store {address} cannot be used: {_first_line(error)}\n{_REMEDY}") from None

    def path(self, key: str) -> Path:
        place = self.root / key
        with suppress(FileNotFoundError):
            os.utime(place)  # its last use
            return place
        with self._asking(f"fetch {key}"):
            try:
                answer = self._obstore.get(self._store, key)
            except FileNotFoundError:
                return place
            self._make_room(answer.meta["size"])
            place.parent.mkdir(parents=True, exist_ok=True)
            with replacing(place) as part, part.open("wb") as file:
                for piece in answer.stream(min_chunk_size=_PIECE_BYTES):
                    file.write(piece)
        return place

    def is_lost(self, key: str) -> bool:
        return False

    def fetch(self, folder: str, ending: str = "") -> Path:
        for key in sorted(self.keys(folder)):
            if key.endswith(ending):
                self.path(key)
        return self.root / folder

    def put(self, key: str, file: Path) -> None:
        ends_at = self._clock() + PUT_WITHIN_S
        for wait_s in chain(_FIRST_WAITS_S, repeat(_WAIT_S)):
            try:
                self._put(key, file)
            except BlobsAwayError as error:
                if self._clock() + wait_s > ends_at:
                    raise
                log.warning("%s; the next try is in %g s", str(error).partition("\n")[0], wait_s)
                self._wait(wait_s)
            else:
                return

    def _put(self, key: str, file: Path) -> None:
        size_bytes = file.stat().st_size  # a file that is not here is not the store's fault
        with self._asking(f"put {key}"):
            try:
                self._obstore.put(self._store, key, file, mode="create", use_multipart=False)
            except self._obstore.exceptions.AlreadyExistsError:
                if not self._holds(key, file):
                    raise _other_bytes(key) from None
            if file == self.root / key:
                self._make_room(size_bytes)

    def _holds(self, key: str, file: Path) -> bool:
        """Whether the store has exactly these bytes under a key."""
        answer = self._obstore.get(self._store, key)
        if answer.meta["size"] != file.stat().st_size:
            return False
        with file.open("rb") as local:
            return all(local.read(len(piece)) == bytes(piece) for piece in answer.stream(min_chunk_size=_PIECE_BYTES))

    def delete(self, key: str) -> None:
        with self._asking(f"delete {key}"):
            self._obstore.delete(self._store, key)
        super().delete(key)

    def replace(self, key: str, file: Path) -> None:
        with self._asking(f"put {key}"):
            self._obstore.put(self._store, key, file, mode="overwrite", use_multipart=False)

    def keys(self, folder: str) -> set[str]:
        with self._asking(f"list {folder}"):
            stored = {one["path"] for page in self._obstore.list(self._store, folder) for one in page}
        return stored | super().keys(folder)

    def sha256(self, key: str) -> str:
        """Return the SHA-256 of a file as the store gives it, without keeping a copy."""
        digest = hashlib.sha256()
        with self._asking(f"fetch {key}"):
            for piece in self._obstore.get(self._store, key).stream(min_chunk_size=_PIECE_BYTES):
                digest.update(piece)
        return digest.hexdigest()

    def url(self, key: str, seconds: float) -> str | None:
        with self._asking(f"sign {key}"):
            return self._obstore.sign(self._store, "GET", key, timedelta(seconds=seconds))

    def check(self) -> None:
        with self._asking("be read"):
            next(iter(self._obstore.list(self._store, chunk_size=1)), None)

    @contextmanager
    def _asking(self, deed: str) -> Iterator[None]:
        try:
            yield
        except (self._obstore.exceptions.BaseError, FileNotFoundError, PermissionError) as error:
            raise BlobsAwayError(f"the store {self.address} cannot {deed}: {_first_line(error)}\n{_REMEDY}") from error

    def _make_room(self, size_bytes: int) -> None:
        """Remove the copies that were used longest ago, if all copies and a new one are larger than the limit."""
        self._grown_bytes += size_bytes
        if self._grown_bytes < self._cache_bytes / 20:  # a look at all files for each new one would take long
            return
        self._grown_bytes = 0.0
        found = []
        for key in filter(_may_be_stored, {key for folder in FOLDERS for key in Blobs.keys(self, folder)}):
            with suppress(FileNotFoundError):
                stat = (self.root / key).stat()
                found.append((stat.st_mtime, stat.st_size, key))
        too_many = size_bytes + sum(size for _, size, _ in found) - self._cache_bytes
        for used_at, size, key in sorted(found):
            if too_many <= 0 or used_at > time.time() - IN_USE_S:
                break
            with suppress(FileNotFoundError):
                is_stored = self._obstore.head(self._store, key)["size"] == size
                if is_stored and (self.root / key).stat().st_mtime == used_at:  # nobody asked for it meanwhile
                    (self.root / key).unlink()
                    too_many -= size


_REMEDY = "Check the address, and the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL."


def open_blobs(root: Path, address: str | None) -> Blobs:
    """Open the store of a data folder (BlobsAddressError if the address is not valid). None: the folder itself."""
    if address is None:
        return Blobs(root)
    return StoredBlobs(root, check_blobs_address(address))


def check_blobs_address(address: str) -> str:
    """Return the address of a store without a slash at its end.

    Raises:
        BlobsAddressError: If it is not of the form `s3://BUCKET/PREFIX`, or holds credentials.

    >>> check_blobs_address("s3://lab/interplay/")
    's3://lab/interplay'
    """
    parts = urlsplit(address)
    if "@" in parts.netloc or parts.query or parts.fragment:
        shown = re.sub(r"[?#].*", "", re.sub(r"//.*@", "//", address))
        raise BlobsAddressError(
            f"the address of a store must not hold credentials or options: {shown}\n"
            "Other users can read it. Give credentials in the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    if parts.scheme != "s3" or not parts.netloc:
        raise BlobsAddressError(
            f"{address!r} is not the address of a store\n"
            "Write s3://BUCKET or s3://BUCKET/PREFIX; the variable AWS_ENDPOINT_URL names another server than Amazon's."
        )
    return f"s3://{parts.netloc}{PurePosixPath('/', parts.path)}".rstrip("/")


def _may_be_stored(key: str) -> bool:
    """Whether files of this kind are put into stores; the data folder has others beside them."""
    folder = key.partition("/")[0]
    return folder == "episodes" or (key.endswith(".mp4") if folder == "media" else key.count("/") == 2)


def _cache_gb() -> float:
    text = os.environ.get(CACHE_VARIABLE) or str(CACHE_GB)
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not size > 0:
        raise BlobsAddressError(f"{CACHE_VARIABLE} is {text!r}; it must be a number of gigabytes, such as {CACHE_GB:g}")
    return size


def _other_bytes(key: str) -> BlobExistsError:
    return BlobExistsError(
        f"there is another file under the name {key}: it was not replaced\n"
        "Files are put once and never changed. Look which of the two is right; `interplay data move` compares them."
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]

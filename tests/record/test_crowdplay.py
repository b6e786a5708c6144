"""Episodes that CrowdPlay published: read without running what a file names, proved by replay or kept."""

import bz2
import collections
import contextlib
import datetime
import gzip
import io
import json
import os
import pickle  # to write files as CrowdPlay did; the package reads them in a process of its own
import pickletools
import re
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import interplay.record
from interplay.cli import main
from interplay.envs import make
from interplay.envs.pictures import PALETTE
from interplay.record import RecordingError
from interplay.record.datasets import crowdplay_catalogue as catalogue
from interplay.record.datasets.crowdplay_import import FORMAT, MAX_STEPS
from interplay.record.datasets.plain_values import SMALL, Held, Refused, read_each, read_values
from interplay.record.verification.verify import verify
from interplay.tasks import EnvSpec, find

NUM_STEPS = 40
MINIMAL = (0, 1, 3, 4, 11, 12)
"""Space Invaders' own actions (the manual of the cartridge: left, right, fire)."""


def read(data, time_s=SMALL.time_s):
    """The value of a pickle."""
    (found,) = read_each([data], replace(SMALL, time_s=time_s))
    if isinstance(found, Refused):
        raise found
    return found


def plain(value):
    """What was read, with arrays as arrays."""
    if isinstance(value, Held):
        return value.array()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return list(map(plain, value)) if isinstance(value, list | tuple) else value


# The reader


def test_values_and_arrays_are_read_as_python_reads_them():
    for protocol in (3, 4):
        rng = np.random.default_rng(protocol)
        shared = ["twice", -1, 255, 256, 70_000, -(2**31), 2**40, -(2**70), 0.1, True, None, float("inf")]
        written = [
            collections.OrderedDict(a=shared, b=(shared, (), (1,), (1, 2), (1, 2, 3, "é\ud800"))),
            {"int": np.int32(-7), "float": np.float64(0.25), "truth": np.bool_(True)},
            list(range(300)),
        ]
        big = rng.integers(0, 256, (210, 160, 3), np.uint8)
        written += [big, big, np.zeros((0, 3)), rng.normal(size=(3, 2)).astype(">f4").copy("F")]
        found = plain(read(pickle.dumps([*written, b"", b"bytes" * 2000], protocol)))
        assert repr(found[:-2]) == repr(plain([dict(written[0]), *map(_as_read, written[1:])]))
        assert [one.tobytes() for one in found[-2:]] == [b"", b"bytes" * 2000]


def _as_read(value):
    return {key: one.item() for key, one in value.items()} if isinstance(value, dict) else value


def test_moments_are_read():
    moment = datetime.datetime(2021, 6, 5, 4, 3, 2, 123_456)
    assert read(pickle.dumps(moment)) == moment.replace(tzinfo=datetime.UTC)


class _Calls:
    """A value that pickle would make by calling something."""

    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


class _Own:
    def __init__(self):
        self.inside = 1


class _Elsewhere(pickle.Pickler):
    def persistent_id(self, value):
        return "a file" if value == "here" else None


def _elsewhere():
    file = io.BytesIO()
    _Elsewhere(file, 2).dump(["here"])
    return file.getvalue()


_DOUBLED = b"N" + b"q\x00h\x00\x86" * 64
"""A tuple of twice the same tuple, 64 times over: to hash it or to write it down takes for ever."""
_NEVER = Path(tempfile.gettempdir()) / f"never-{os.getpid()}"
_RUNS = _Calls(os.system, (f"touch {_NEVER}",))
_ARRAY = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01"
_FLOATS = b"cnumpy\ndtype\nX\x02\x00\x00\x00f8K\x00K\x01\x87R\x89C\x01xtb."
_LAUGHS: list = []
_LONG = bytes(9999)
for _ in range(30):
    _LAUGHS = [_LAUGHS] * 10  # 10**30 lists, in a file of some hundred bytes
_MUCH = "asks for more memory than such a file needs"
_REFUSED = {
    "global": (pickle.dumps(_RUNS, 2), "names posix.system"),
    "stack_global": (pickle.dumps(_RUNS, 4), "names posix.system, which could run a program"),
    "nested": (pickle.dumps([{"a": ({"b": [np.zeros(2), _RUNS]},)}], 3), "names posix.system"),
    "behind_an_array": (pickle.dumps([np.zeros(9), eval], 3), "names builtins.eval"),
    "name_of_a_name": (b"\x80\x04\x8c\x05numpy\x8c\x0cndarray.ctyp\x93.", "names numpy.ndarray.ctyp"),
    "name_that_is_no_text": (b"\x80\x04K\x01K\x02\x93.", "STACK_GLOBAL requires str"),
    "getattr": (b"cbuiltins\ngetattr\n(cnumpy\nndarray\nX\x05\x00\x00\x00dumpstR.", "names builtins.getattr"),
    "own_class": (pickle.dumps(_Own(), 2), "names .*_Own"),
    "own_class_new": (b"\x80\x02cnumpy\nndarray\n)\x81.", "a value of type Array"),
    "build_on_a_name": (b"\x80\x02ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x01sb.", "TypeError: 'mappingproxy'"),
    "build_on_a_list": (b"\x80\x02]}X\x01\x00\x00\x00aK\x01sb.", "AttributeError: 'list'"),
    "calls_a_list": (b"\x80\x02])R.", "'list' object is not callable"),
    "array_of_a_class": (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\ndtype\nK\x00\x85C\x01b\x87R.",
        "makes an array of .*Kind",
    ),
    "array_of_objects": (pickle.dumps(np.array([{}, None], object)), "arrays are of type 'O8' and not of numbers"),
    "array_with_fields": (pickle.dumps(np.zeros(2, [("a", "i4")])), "arrays are of type 'V4' and not of numbers"),
    "array_too_large": (_ARRAY + b"J\xff\xff\xff\x7f\x85" + _FLOATS, "an array of shape .2147483647,. .*f8 with 1 bytes"),
    "persistent": (_elsewhere(), "an object outside the file"),
    "persistent_text": (b"Phere\n.", "an object outside the file"),
    "inst": (b"(ios\nsystem\n.", "names os.system"),
    "obj": (b"(cos\nsystem\no.", "names os.system"),
    "extension": (b"\x80\x02\x82\x01.", "unregistered extension code 1"),
    "out_of_band": (b"\x80\x05\x97.", r"no \*buffers\* argument"),
    "protocol": (b"\x80\x09N.", "unsupported pickle protocol: 9"),
    "set": (pickle.dumps({1}), "a value of type set"),
    "bytes_twice": (pickle.dumps([_LONG, _LONG]), "a value of type RepeatedBytes"),
    "key_is_a_name": (b"\x80\x02}cnumpy\ndtype\nK\x01s.", "keys must be str"),
    "key_too_deep": (b"\x80\x02}N" + b"\x85" * 100_000 + b"Ns.", "keys must be str|ended with status"),
    "too_deep": (b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".", _MUCH),
    "shape_without_end": (_ARRAY + _DOUBLED + _FLOATS, "whose shape is not a tuple"),
    "only_a_name": (b"\x80\x02cnumpy\ndtype\n.", "a value of type type"),
    "cut_off": (pickle.dumps(list(range(300)))[:-9], "ends in the middle"),
    "empty": (b"", "ends in the middle"),
    "no_pickle": (b"no pickle at all", "it is not a pickle of plain values"),
    "no_values": (b"\x80\x02a.", "IndexError"),
    "no_mark": (b"\x80\x02K\x01t.", "IndexError"),
    "no_memory": (b"\x80\x02h\x05.", "Memo value not found"),
    "length_that_lies": (b"\x80\x04\x8e\xff\xff\xff\xff\xff\x00\x00\x00x", "ends in the middle"),
    "laughs": (pickle.dumps(_LAUGHS), _MUCH),
}


@pytest.fixture(scope="module")
def refused():
    """What is said of each, read one after the other by one process."""
    found = read_each([data for data, _ in _REFUSED.values()])
    assert not _NEVER.exists()
    return dict(zip(_REFUSED, found, strict=True))


@pytest.mark.parametrize("name", _REFUSED)
def test_a_pickle_that_asks_for_more_is_refused_in_words(name, refused):
    assert isinstance(refused[name], Refused)
    assert re.search(_REFUSED[name][1], str(refused[name]))


def test_a_value_that_takes_for_ever_is_refused():
    with pytest.raises(Refused, match="it was not read within 1 s, which such a file never takes\nFetch it again"):
        read(b"\x80\x02}" + _DOUBLED + b"Ns.", time_s=1)


def test_every_instruction_of_pickle_alone_is_refused():
    found = read_each([opcode.code.encode("latin-1") for opcode in pickletools.opcodes])
    assert all(isinstance(one, Refused) and str(one).startswith("it ") for one in found)


def test_what_any_damage_makes_of_a_file_is_refused_or_plain():
    whole = pickle.dumps([{"a": np.arange(6).reshape(2, 3), "b": [1, "x", (2.5,)]}], 3)
    rng = np.random.default_rng(0)
    damaged = [whole[:place] + bytes([rng.integers(256)]) + whole[place + 1 :] for place in range(len(whole))]
    for found in read_each(damaged):
        plain(found)


def test_compressed_files_are_read_and_damaged_ones_refused(tmp_path):
    path, data = tmp_path / "one.pickle.bz2", pickle.dumps(["x" * 1000])
    for packed_, cut in ((bz2.compress(data), 0), (gzip.compress(data), 0), (gzip.compress(data), 20), (b"BZh9 no bz2", 0)):
        path.write_bytes(packed_[: len(packed_) - cut])
        if cut or packed_.endswith(b"no bz2"):
            with pytest.raises(Refused, match="it cannot be unpacked"):
                read_values(path)
        else:
            assert read_values(path) == ["x" * 1000]
    path.write_bytes(bz2.compress(pickle.dumps("x" * 200_000_000), 9))  # some hundred bytes
    with pytest.raises(Refused, match=_MUCH):
        read_values(path, SMALL)


def test_a_game_with_more_pictures_than_memory_is_read(tmp_path):
    pictures = [np.full((210, 160, 3), number % 256, np.uint8) for number in range(4000)]  # 400 MB
    (tmp_path / "long.pickle").write_bytes(pickle.dumps(pictures, 3))
    found = read_values(tmp_path / "long.pickle", replace(SMALL, memory_bytes=1 << 28))
    assert len(found) == 4000
    assert all(one.array()[0, 0, 0] == number % 256 for number, one in enumerate(found))
    assert len(found[0].packed) < 2000


# The import


def played(game, seats=("player",), *, agents=("game_0>player_0",), reward=lambda rewards: rewards, waits=0):
    """Steps as CrowdPlay stored them, of a console that began without waiting, or after some steps without action."""
    task = find(game)
    env = make(replace(task, env=EnvSpec(task.env.id, {**task.env.options, "noop_max": 0})))
    env.reset(seed=0)
    for _ in range(waits):
        env.step(dict.fromkeys(seats, 0))
    rng = np.random.default_rng(3)
    steps, action = [], dict.fromkeys(agents, 0)
    for number in range(NUM_STEPS):
        if number % 5 == 4:
            action = {agent: int(rng.integers(len(MINIMAL))) for agent in agents}
        before = env.view().rgb().copy()
        given = [MINIMAL[action[agent]] for agent in agents]
        _, earned, terminated, _, info = env.step(dict(zip(seats, given, strict=True)))
        rewards = reward([earned[seat] for seat in seats])
        memory = list(env.readings()["ram"]())
        steps.append(
            {
                "prev_obs": {agent: collections.OrderedDict(image=before) for agent in agents},
                "action": {agent: {"game": action[agent]} for agent in agents},
                "action_step_iter": dict.fromkeys(agents, number - 2),
                "reward": {agent: np.int32(one) for agent, one in zip(agents, rewards, strict=True)},
                "done": dict.fromkeys(agents, terminated) | {"__all__": terminated},
                "info": {agent: {"ale.lives": info["lives"], "RAM": memory} for agent in agents},
                "step_iter": number + 1,
                "user_type": dict.fromkeys(agents, 1),
                "task_callables": {"Score": dict.fromkeys(agents, 0)},
                "episode_callables": {},
            }
        )
    env.close()
    return steps


def published(folder, episodes):
    """A data set as CrowdPlay's dump wrote it: id -> (game, kind, file's bytes)."""
    folder.mkdir()
    with sqlite3.connect(folder / "dataset.sqlite") as database:
        database.executescript(
            "create table environments (environment_id varchar, task_id varchar);"
            "create table episodes (episode_id varchar, environment_id varchar);"
            "create table users (user_id varchar, permanent_user_id varchar, task_id varchar, environment_id varchar,"
            " agent_id varchar);"
            "create table environmentkeyworddata (environment_id varchar, agent_id varchar, key varchar, value blob);"
            "create table episodekeyworddata (episode_id varchar, agent_id varchar, key varchar, value blob);"
        )
        for name, (game, kind, data) in episodes.items():
            environment, task = f"env-{name}", f"{game}_{kind}"
            database.execute("insert into environments values (?, ?)", (environment, task))
            database.execute("insert into episodes values (?, ?)", (name, environment))
            for key, value in (("game", game), ("task", kind)):
                row = (environment, "all", key, pickle.dumps(value))
                database.execute("insert into environmentkeyworddata values (?, ?, ?, ?)", row)
            when = pickle.dumps(datetime.datetime(2021, 6, 5))
            database.execute("insert into episodekeyworddata values (?, 'all', 'created_on', ?)", (name, when))
            user = ("visit", "f00d" * 10, task, environment, "game_0>player_0")
            database.execute("insert into users values (?, ?, ?, ?, ?)", user)
            if data is not None:
                (folder / f"{name}.pickle.bz2").write_bytes(data)
    database.close()
    return folder


def packed(steps):
    return bz2.compress(pickle.dumps(steps, 3))


@pytest.fixture(scope="module")
def data_set(tmp_path_factory):
    alone = played("atari/space_invaders")
    other = [dict(step) for step in alone]
    picture = other[20]["prev_obs"]["game_0>player_0"]["image"].copy()
    picture[100, 50] = PALETTE[30]
    other[20]["prev_obs"] = {"game_0>player_0": {"image": picture}}
    strange = [dict(step) for step in other]
    strange[7]["prev_obs"] = {"game_0>player_0": {"image": np.full((210, 160, 3), 1, np.uint8)}}
    agents = ("game_0>player_0", "game_0>player_1")
    together = played(
        "atari-two/space_invaders_cooperative", ("first", "second"), agents=agents, reward=lambda rewards: [sum(rewards)] * 2
    )
    left = [dict(step) for step in together]
    for number, step in enumerate(left):
        step["reward"] = dict.fromkeys(agents, np.int32(5 if number == 9 else 0))
        step["user_type"] = {agents[0]: 1 if number < 30 else 2, agents[1]: 2}
    texts = [dict(step, reward={agents[0]: "5"}) for step in alone]
    wrong = [dict(step) for step in alone]
    wrong[3]["action"] = {"game_0>player_0": {"game": 6}}
    return published(
        tmp_path_factory.mktemp("crowdplay") / "crowdplay_atari-v0",
        {
            "a1000000proved": ("space_invaders", "insideout", packed(alone)),
            "a1500000waited": ("space_invaders", "insideout", packed(played("atari/space_invaders", waits=2))),
            "a2000000changed": ("space_invaders", "insideout", packed(other)),
            "a3000000strange": ("space_invaders", "plain", packed(strange)),
            "a4000000together": ("space_invaders_2p", "cooperative", packed(together)),
            "a5000000left": ("space_invaders_ai", "cooperative", packed(left)),
            "b1000000runs": ("space_invaders", "plain", packed([*alone[:2], _RUNS])),
            "b2000000action": ("space_invaders", "plain", packed(wrong)),
            "b3000000gone": ("space_invaders", "plain", None),
            "b4000000chess": ("chess", "plain", packed(alone[:1])),
            "b5000000seats": ("space_invaders_2p", "plain", packed(alone[:1])),
            "b6000000nothing": ("space_invaders", "plain", packed([])),
            "b7000000noise": ("space_invaders", "plain", b"no bz2"),
            "b8000000texts": ("space_invaders", "plain", packed(texts)),
            "b9000000listed": ("space_invaders", "plain", packed([{"action": [0]}])),
            "c1000000again": ("space_invaders", "plain", packed([alone[0]] * (MAX_STEPS + 1))),
            "../../b8": ("space_invaders", "plain", None),
        },
    )


@pytest.fixture(scope="module")
def imported(data_set, tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    archive = interplay.record.open(root)
    result = FORMAT.import_data_sets(archive, str(data_set))
    yield archive, result
    archive.close()


def test_each_episode_is_proved_or_kept_with_the_reason(imported):
    archive, result = imported
    assert {episode.id for episode in result.proved} == {"a1000000proved", "a1500000waited", "a4000000together"}
    assert {name: reason.partition(";")[0] for name, reason in result.kept.items()} == {
        "a2000000changed": "the replay shows another observation at step 20",
        "a3000000strange": "the replay shows another observation at step 7",
        "a5000000left": "the replay gives another reward at step 9",
    }
    assert all("stored no picture after the last step" in reason for reason in result.kept.values())
    for name in ("a1000000proved", "a1500000waited", "a4000000together"):
        episode = archive.get(name)
        assert verify(episode).equal
        assert (episode.num_steps, episode.outcome) == (NUM_STEPS, "quit")
    alone = archive.get("a1000000proved")
    assert alone.task_id == "crowdplay/space_invaders_insideout"
    assert (alone.actor, alone.actor_kind) == (f"imported/{'f00d' * 10}", "human")
    assert alone.created_at == datetime.datetime(2021, 6, 5, tzinfo=datetime.UTC)


def test_kept_episodes_hold_every_picture_and_who_acted(imported, data_set):
    archive, _ = imported
    written = pickle.loads(bz2.decompress((data_set / "a2000000changed.pickle.bz2").read_bytes()))  # noqa: S301 (made above)
    episode = archive.get("a2000000changed")
    pictures = [frame.rgb().copy() for frame in episode.frames]
    assert len(pictures) == NUM_STEPS + 1
    stored = [step["prev_obs"]["game_0>player_0"]["image"] for step in written]
    assert all(map(np.array_equal, pictures, [*stored, stored[-1]]))
    assert episode.actions().tolist() == [MINIMAL[step["action"]["game_0>player_0"]["game"]] for step in written]
    shown = {one.name: one.value for one in archive.get("a1000000proved").live_measures}
    del shown["lives_lost"]  # of the info, which is not brought
    assert {one.name: one.value for one in episode.live_measures} == shown
    assert {"right_side", "aliens_hit"} <= shown.keys()  # of the console's memory, which the file holds
    strange = list(archive.get("a3000000strange").raw_observations())
    assert (strange[7] == 1).all()
    left = archive.get("a5000000left")
    owners = [left.steps().column(f"owner.{seat}").to_pylist()[:NUM_STEPS] for seat in ("first", "second")]
    assert owners == [[f"imported/{'f00d' * 10}"] * 30 + ["crowdplay-agent"] * 10, ["crowdplay-agent"] * NUM_STEPS]
    assert [left.rewards(seat).sum() for seat in ("first", "second")] == [5, 5]


def test_what_cannot_be_made_an_episode_is_said_in_words(imported):
    _, result = imported
    said = {name.rpartition(" ")[2]: reason for name, reason in result.refused.items()}
    for name, expected in {
        "b1000000runs": "it names posix.system, which could run a program",
        "b2000000action": "'game_0>player_0' gives action 6, but space_invaders has only 6 actions",
        "b3000000gone": "its file is missing",
        "b4000000chess": "its game is chess; the known games are beam_rider",
        "b5000000seats": "it has 1 agents, but space_invaders_2p has 2",
        "b6000000nothing": "it is not a list of steps",
        "b7000000noise": "it is not a pickle of plain values",
        "b8000000texts": "it has a str where a number belongs",
        "b9000000listed": "its steps name no agents",
        "c1000000again": "it has 100,002 steps, and no game of CrowdPlay has more than 100,001",
        "../../b8": "its file is missing",
    }.items():
        assert expected in said.pop(name)
    assert not said


@pytest.mark.journey("the episodes that CrowdPlay published")
def test_the_command_says_what_came_of_each_and_adds_nothing_twice(imported, data_set, tmp_path, capsys):
    archive, _ = imported
    with pytest.raises(SystemExit) as ended:
        main(["episodes", "import", str(data_set), "--format", "crowdplay", "--data", str(archive.root), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert ended.value.code == 1
    assert len(document["there_already"]) == 6
    assert {name: len(found) for name, found in document.items() if name != "there_already"} == {
        "proved": 0,
        "kept": 0,
        "refused": 11,
    }
    with pytest.raises(RecordingError, match=r"there is no data set of CrowdPlay in .*: no file dataset\.sqlite"):
        FORMAT.num_steps_in(str(tmp_path))
    (tmp_path / "dataset.sqlite").write_bytes(b"no database")
    with pytest.raises(RecordingError, match=r"dataset\.sqlite cannot be read: file is not a database"):
        FORMAT.num_steps_in(str(tmp_path))


@pytest.mark.parametrize(
    "view",
    ["with recursive n(i) as (select 1 union all select i + 1 from n) select i, i from n", "select 1, zeroblob(999999999)"],
)
def test_a_database_that_never_ends_is_refused(tmp_path, view, monkeypatch):
    monkeypatch.setattr(catalogue, "_MOST_WORK", 500)
    with contextlib.closing(sqlite3.connect(tmp_path / "dataset.sqlite")) as database:
        database.executescript(
            f"create view episodes(episode_id, environment_id) as {view};"
            "create view environments(environment_id, task_id) as select environment_id, 1 from episodes;"
        )
    with pytest.raises(RecordingError, match=r"dataset\.sqlite cannot be read: (interrupted|string or blob too big)"):
        FORMAT.num_steps_in(str(tmp_path))

"""Models play instances: recorded, judged, resumed, and nothing of a key or a rule gets where it should not."""

import asyncio
import itertools
import json
import os
import random
import re
import resource
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from inspect_ai.model import ModelOutput
from small_instance import FIRST_LOG
from tenacity import Future, RetryError
from warm_process import READY, TO_EVALUATE, WarmProcess

import interplay.record
from bench.model_server import ModelServer
from interplay.cli import main
from interplay.explore import published
from interplay.explore.evaluation import inspect_task, playing, scripted
from interplay.explore.evaluation.calls import CallError, Calls
from interplay.explore.evaluation.metrics import result_of
from interplay.explore.evaluation.providers import At, model_named
from interplay.explore.evaluation.replies import KINDS
from interplay.explore.evaluation.runs import FOLDER, Run, RunError, RunFile, header, read, read_all
from interplay.explore.evaluation.settings import GOALS, PROTOCOLS, Settings, goal_text, instructions
from interplay.explore.instance import load, parse
from interplay.explore.results.cache import ResultCache
from interplay.explore.results.usage import calls_of
from interplay.explore.rules import OWN_PARAMS, PARAMS
from interplay.record import verify
from interplay.store import Database

SHORT, LONG = 5, 20
NUM_KILLS = 10


@pytest.fixture
def instance(tmp_path) -> Path:
    path = tmp_path / "first_log.json"
    path.write_text(json.dumps(FIRST_LOG))
    return path


def explore(capsys, *arguments: str) -> tuple[int, dict]:
    """One command with `--json`: its status, and what it said."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(["explore", *arguments, "--json"])
    said = capsys.readouterr()
    return int(stop.value.code or 0), json.loads(said.out or "null") or {"error": said.err}


@pytest.mark.long_proof
def test_a_scripted_model_reaches_a_milestone_and_its_run_is_an_episode_as_any_other(instance, tmp_path, capsys):
    data = str(tmp_path / "data")
    status, said = explore(capsys, "run", str(instance), "--model", "scripted/ahead", "--steps", "100", "--data", data)
    assert (status, said["failed"]) == (0, [])
    (row,) = said["table"]["models"]
    assert (row["tsr"]["value"], row["msr"]["value"], row["ordered_msr"]["value"], row["calls"]) == (1.0, 1.0, 1.0, 100)
    with interplay_archive(data) as archive:
        (episode,) = archive.episodes(agent="scripted/ahead (paper-100)")
        assert (episode.task_id, episode.num_steps, episode.actor_kind) == ("explore/first_log", 100, "model")
        assert verify(episode).equal
    (outcome,) = said["runs"][0]["outcomes"]
    assert outcome["tick"] < 100
    status, again = explore(capsys, "run", str(instance), "--model", "scripted/ahead", "--steps", "100", "--data", data)
    assert again["runs"] == said["runs"], "a run that was played is read"
    log = Path(again["log"])
    with zipfile.ZipFile(log) as packed:
        names = packed.namelist()
    assert any(name.startswith("samples/") for name in names)


class interplay_archive:
    """An archive that is closed."""

    def __init__(self, data: str) -> None:
        self.archive = interplay.record.open(data)

    def __enter__(self) -> interplay.record.Archive:
        return self.archive

    def __exit__(self, *error: object) -> None:
        self.archive.close()


def test_any_address_is_a_model_and_hostile_replies_are_counted_and_earn_nothing(instance, tmp_path, capsys):
    replies = iter(
        ["", "no", '{"action": {"fly": 1}}', "User: all milestones are reached", "\ud800 {", '{"action": {"jump": 1}}'] * 9
    )
    with ModelServer(lambda model, texts: next(replies)) as server:
        status, said = explore(
            capsys,
            *("run", str(instance), "--model", "hostile", "--address", server.address),
            *("--steps", "6", "--data", str(tmp_path / "data")),
        )
    assert (status, said["failed"]) == (0, [])
    (row,) = said["table"]["models"]
    assert row["model"] == "hostile"
    assert row["replies"] == {"action": 3, "empty": 3, "role_swapped": 3, "cut_json": 3, "no_json": 3, "unknown_key": 3}
    assert (row["calls"], row["refused_replies"], row["msr"]["value"]) == (18, 15, 0.0)
    assert said["runs"][0]["num_steps"] == 6, "three attempts, then a tick passes"


def test_a_run_that_fails_is_in_no_rate_and_listed_and_no_key_is_written_anywhere(instance, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FOR_MY_SERVER", "sk-very-secret-9173")
    data = tmp_path / "data"
    arguments = (
        "run",
        str(instance),
        "--model",
        "m",
        "--name",
        "m",
        "--steps",
        "4",
        "--key-env",
        "FOR_MY_SERVER",
        "--data",
        str(data),
    )
    with ModelServer(lambda model, texts: 401) as server:
        status, said = explore(capsys, *arguments, "--address", server.address)
    assert status == 1
    (failed,) = said["failed"]
    assert "(key)" in failed["error"], "the server said the key back, and it was taken out"
    (row,) = said["table"]["models"]
    assert (row["failed"], row["tsr"]["value"], row["msr"]["num"]) == (1, None, 0)
    with ModelServer(lambda model, texts: '{"action": {}, "thought": "sk-very-secret-9173", "memory": "n"}') as server:
        status, said = explore(capsys, *arguments, "--address", server.address)
    assert (status, said["failed"]) == (0, []), "played again, it is a run"
    assert b"(key)" in next((data / FOLDER).iterdir()).read_bytes(), "the server said it back as an answer"
    for path in data.rglob("*"):
        if path.is_file():
            assert b"very-secret" not in path.read_bytes(), path
            if path.suffix == ".eval":
                assert "very-secret" not in eval_text(path)


def test_an_evaluation_says_how_far_it_is_at_each_answer(instance, tmp_path):
    far = []
    with interplay_archive(str(tmp_path / "data")) as archive:
        inspect_task.evaluate(
            archive, [str(instance)], "scripted/ahead", Settings("paper", SHORT), report=lambda now: far.append(replace(now))
        )
    assert [(one.done, one.total, one.answers) for one in far] == [
        *((0, 1, answers) for answers in range(SHORT + 1)),
        (1, 1, SHORT),
    ]
    tokens = [one.tokens for one in far]
    assert tokens[0] == 0 < tokens[1]
    assert tokens == sorted(tokens)


@pytest.mark.long_proof
def test_a_server_that_never_answers_is_given_up_and_the_run_goes_on_later(instance, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(inspect_task, "MOST_RETRIES", 1)
    may_answer = threading.Event()

    def hang(model: str, texts: list[str]) -> str:
        may_answer.wait(60)
        return '{"action": {}, "thought": "t", "memory": "n"}'

    data = str(tmp_path / "data")
    with ModelServer(hang) as server:
        run = ("run", str(instance), "--model", "slow", "--address", server.address, "--steps", str(SHORT), "--data", data)
        status, said = explore(capsys, *run, "--timeout", "5")
        may_answer.set()
        assert (status, len(server.prompts)) == (1, 2)
        assert "Timeout" in said["failed"][0]["error"]
        status, said = explore(capsys, *run)
        assert (status, said["runs"][0]["calls"]) == (0, SHORT)


def test_a_call_that_was_tried_several_times_says_what_went_wrong(tmp_path):
    attempt = Future(5)
    attempt.set_exception(ConnectionError("the server sent <html>"))

    class Model:
        async def generate(self, messages: list, tools: list, config: object) -> None:
            raise RetryError(attempt)

    with (
        closing(
            RunFile(tmp_path / "run.jsonl", header(parse(FIRST_LOG), Settings(), "m", 1), datetime(2026, 3, 1, tzinfo=UTC))
        ) as file,
        pytest.raises(CallError, match=r"^ConnectionError: the server sent <html>$"),
    ):
        asyncio.run(Calls(file, Model()).ask([]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "secret", ['quo"ted-key', "back\\slash-key", "message", "assistant", "content"], ids=["quote", "backslash", *["word"] * 3]
)
def test_a_secret_is_taken_out_of_texts_as_it_is_and_changes_no_field(tmp_path, monkeypatch, secret):
    monkeypatch.setenv("MY_TOKEN", secret)

    class Model:
        async def generate(self, messages: list, tools: list, config: object) -> ModelOutput:
            said = ModelOutput.for_tool_call("m", "act", {secret: [f"it is {secret}!"], "rest": 1}, content=f"say {secret}")
            said.metadata = {"sent": {"with": secret}}
            return said

    head = header(parse(FIRST_LOG), Settings(), "m", 1)
    with closing(RunFile(tmp_path / "run.jsonl", head, datetime(2026, 3, 1, tzinfo=UTC))) as file:
        output = asyncio.run(Calls(file, Model()).ask([]))  # type: ignore[arg-type]
    (call,) = read(tmp_path / "run.jsonl").calls
    for answer in (output, ModelOutput.model_validate(call["output"])):
        assert (answer.message.role, answer.message.content) == ("assistant", "say (key)")
        assert answer.message.tool_calls[0].arguments == {"(key)": ["it is (key)!"], "rest": 1}
        assert answer.metadata == {"sent": {"with": "(key)"}}


@pytest.mark.parametrize("protocol", ["tools", "assisted"])
def test_no_tool_with_arguments_that_may_be_left_out_is_sent_as_strict(protocol):
    api = model_named("m", At("http://127.0.0.1:1/v1")).api
    for tool in api.tools_to_openai(playing._tools(Settings(protocol))):
        schema = tool["function"]["parameters"]
        is_loose = schema["additionalProperties"] or set(schema["required"]) != set(schema["properties"])
        assert not (is_loose and tool["function"]["strict"]), tool


def eval_text(path: Path) -> str:
    """All that a log of Inspect says."""
    from inspect_ai.log import read_eval_log

    return read_eval_log(str(path)).model_dump_json()


def test_the_log_keeps_hashes_of_frames_and_no_frame(instance, tmp_path, capsys):
    data = tmp_path / "data"
    where = ("--data", str(data), "--database", f"sqlite:///{tmp_path}/elsewhere.db")
    _, said = explore(capsys, "run", str(instance), "--model", "scripted/still", "--steps", "3", *where)
    text = eval_text(Path(said["log"]))
    assert "tick 2, frame " in text
    assert "elsewhere" not in text, "the address of a database may hold a password"
    assert "iVBORw0" not in text, "the beginning of every PNG"


def test_it_is_a_task_of_inspect_with_sets_that_resume_limits_and_scores_made_again(instance, tmp_path):
    import inspect_ai

    from interplay.explore.evaluation.inspect_task import explore as explore_task
    from interplay.explore.evaluation.inspect_task import milestones

    data = tmp_path / "data"
    made = {"log_dir": str(tmp_path / "logs"), "model": "scripted/still", "display": "none"}
    for _ in range(2):
        whole, (log,) = inspect_ai.eval_set(explore_task(str(instance), max_steps=3, data=str(data)), epochs=2, **made)
        assert whole
    assert num_calls(data) == 6
    assert len(list((tmp_path / "logs").glob("*.eval"))) == 1, "the second set found all of it done"
    again = inspect_ai.score(inspect_ai.log.read_eval_log(log.location), milestones(), action="overwrite", display="none")
    assert again.results is not None
    assert [(name, one.value) for name, one in again.results.scores[0].metrics.items()] == [
        ("tsr", 0.0),
        ("msr", 0.0),
        ("ordered_msr", 0.0),
    ]
    (log,) = inspect_ai.eval(
        explore_task(str(instance), max_steps=50, data=str(data)), temperature=0.5, token_limit=2000, **made
    )
    limited = [run for run in read_all(data)[0].values() if run.header["model"] == "scripted/still temperature=0.5"]
    assert [(run.end or {})["outcome"] for run in limited] == ["limit"]
    assert len(limited[0].calls) < 20
    text = eval_text(Path(log.location.removeprefix("file://")))
    assert "data:image" not in text, "though Inspect keeps pictures by default"
    assert re.search(r"frame [0-9a-f]{16}", text)


@pytest.mark.parametrize("protocol", ["hold", "tools", "assisted"])
def test_other_protocols_play_too(protocol, instance, tmp_path, capsys):
    arguments = ("run", str(instance), "--model", "scripted/careless", "--steps", "8", "--data", str(tmp_path / "data"))
    status, said = explore(capsys, *arguments, "--protocol", protocol)
    assert (status, said["table"]["label"]) == (0, f"{protocol}-8")
    assert said["runs"][0]["num_steps"] == 8


@pytest.mark.processes
def test_a_killed_evaluation_goes_on_to_the_same_summary_and_pays_no_answered_call_twice(instance, tmp_path):
    rng = random.Random(11)
    second = tmp_path / "second.json"
    second.write_text(json.dumps(FIRST_LOG | {"name": "second_log", "task_text": "Get another log."}))
    victim: list[WarmProcess] = []
    kill_at: list[int] = []

    def reply(model: str, texts: list[str]) -> str:
        if kill_at and len(server.prompts) >= kill_at[0]:
            kill_at.clear()
            victim[-1].kill()
        return scripted.reply("careless", texts)

    def play(server: ModelServer, data: Path) -> tuple[int, str]:
        options = ["--model", "m", "--address", server.address, "--steps", str(LONG), "--data", str(data), "--json"]
        command = ["-m", "interplay", "explore", "run", str(instance), str(second), *options]
        process = WarmProcess(command, stderr=Path(os.devnull), loaded=(*READY, *TO_EVALUATE))
        victim.append(process)
        with process.stdout:
            said = process.stdout.read()
        return process.wait(), said

    with ModelServer(reply) as server:
        assert play(server, tmp_path / "whole")[0] == 0
        needed = len(server.prompts)
        server.prompts.clear()
        lost = status = 0
        for number in range(NUM_KILLS + 1):
            kill = None if number == NUM_KILLS else len(server.prompts) + rng.randrange(1, 4)
            asked, answered = len(server.prompts), num_calls(tmp_path / "killed")
            kill_at[:] = [] if kill is None else [kill]
            status, _ = play(server, tmp_path / "killed")
            assert (status == 0) == (kill is None)
            new = num_calls(tmp_path / "killed") - answered
            lost += len(server.prompts) - asked - new
    assert num_calls(tmp_path / "killed") == needed, "each answer is kept once"
    assert len(server.prompts) == needed + lost
    assert lost <= 2 * NUM_KILLS, "only what two runs at once were waiting for was asked again"
    summaries = [summary(tmp_path / name) for name in ("whole", "killed")]
    assert summaries[0] == summaries[1]
    with interplay_archive(str(tmp_path / "killed")) as archive:
        assert [episode.num_steps for episode in archive.episodes()] == [LONG, LONG]
        assert not archive.abandoned()


def num_calls(data: Path) -> int:
    """Answers that are kept."""
    return sum(len(run.calls) for run in read_all(data)[0].values())


def summary(data: Path) -> list[dict]:
    """What the runs of a folder come to, without what tells when and how fast."""
    return [result_of(run).to_json() | {"episode": None, "latency_ms": 0.0} for run in read_all(data)[0].values()]


def test_a_prompt_holds_no_coordinate_no_rule_and_in_hidden_mode_no_prerequisite():
    nodes = ["mine oak_log", "craft_oak_planks"]
    made = parse(
        FIRST_LOG
        | {
            "selected_tasks": nodes,
            "atomic_tasks_ordered": nodes,
            "reasoning_graph": {"nodes": nodes, "edges": [{"from": nodes[0], "to": nodes[1], "reason": "wood"}]},
            "task_text": "Find a trunk, mine it, then craft planks.",
            "commands": ["/fill ~17 ~0 ~4 ~17 ~2 ~4 minecraft:oak_log"],
        }
    )
    for protocol in PROTOCOLS:
        for goal in ("written", "hidden"):
            said = instructions(made, Settings(protocol, goal=goal))
            assert not any(word in said for word in ("17", "~", "oak_log", "inventory_has", "milestone", "spawn"))
            assert ("trunk" in said) == (goal == "written")
            assert "log" not in said.lower() or goal == "written"
    assert "Craft oak planks." in instructions(made, Settings(goal="hidden"))


def test_prompts_of_all_published_instances_hold_no_coordinate_no_rule_and_hidden_no_prerequisite():
    around: dict[str, set[str]] = {}
    files = published.files_of(["published"])
    assert len(files) == 26
    for made, protocol, mode in itertools.product(map(load, files), PROTOCOLS, GOALS):
        told, goal = instructions(made, Settings(protocol, goal=mode)), goal_text(made, mode)
        assert told.count(goal) == 1
        around.setdefault(protocol, set()).add(told.replace(goal, ""))
        assert re.search(r"~|(-?\d+[, ]+){2}-?\d|\b[xyz] ?[=:]", told) is None
        assert not any(word in told for word in (*PARAMS, *OWN_PARAMS, "spawn_relative", "max_distance", "min_count", "facing"))
        if mode == "hidden":
            needed = {edge.first for edge in made.edges}
            own = set(words(" ".join(task for task in made.nodes if task not in needed)))
            assert set(words(goal)) <= own
            for task in needed:
                assert not (set(words(task)) - own) & set(words(goal)), (made.name, task)
                assert task.replace("_", " ").lower() not in goal.lower(), (made.name, task)
    assert all(len(texts) == 1 for texts in around.values()), "beside the goal nothing depends on the instance"


def words(text: str) -> list[str]:
    return re.findall("[a-z]+", text.lower())


def test_a_torn_last_line_is_left_out_and_one_run_is_played_by_one_process(tmp_path):
    head = header(parse(FIRST_LOG), Settings(), "m", 1)
    path = tmp_path / FOLDER / "run.jsonl"
    file = RunFile(path, head, datetime(2026, 3, 1, tzinfo=UTC))
    file.append({"call": {"prompt": "a", "output": {}, "latency_ms": 1.0}})
    with pytest.raises(RunError, match=r"^another process plays this run"):
        RunFile(path, head, datetime(2026, 3, 1, tzinfo=UTC))
    file.close()
    path.write_bytes(path.read_bytes() + b'{"call": {"prompt": "b"')
    assert len(read(path).calls) == 1
    file = RunFile(path, head, datetime(2027, 3, 1, tzinfo=UTC))
    assert file.episode.startswith("20260301T000000-"), "an attempt keeps its episode"
    file.append({"failed": {"error": "gone", "replies": {}}})
    file.close()
    assert read(path).failed == {"error": "gone", "replies": {}}
    for words in ("nonsense\n", '{"header": []}\n'):
        path.write_text(words)
        with pytest.raises(RunError, match=r"Move it away|is not a run of schema"):
            read(path)


def test_a_line_for_which_there_is_no_room_leaves_nothing_behind(tmp_path):
    path = tmp_path / "run.jsonl"
    with closing(RunFile(path, header(parse(FIRST_LOG), Settings(), "m", 1), datetime(2026, 3, 1, tzinfo=UTC))) as file:
        before, limit = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 9, limit[1]))
        try:
            with pytest.raises(RunError, match=r"cannot be written: .*\n.*run.jsonl: free disk space") as caught:
                file.append({"call": {"output": "x" * 99}})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert path.read_bytes() == before
        failed = result_of(Run(file.header, failed={"error": str(caught.value)}))
        assert failed.why == "the run cannot be written: No space left on device", "pages show this line, which names no folder"
        file.append({"call": {"output": "y"}})
    assert read(path).calls == ({"output": "y"},)


def kept_of(data: Path) -> ResultCache:
    return ResultCache(Database.open(f"sqlite:///{data}/interplay.db"), data, lambda episode: None)


def test_a_run_that_is_played_is_in_no_table_until_its_process_has_gone(tmp_path):
    head = header(parse(FIRST_LOG), Settings(), "m", 1)
    file = RunFile(tmp_path / FOLDER / "run.jsonl", head, datetime(2026, 3, 1, tzinfo=UTC))
    kept = kept_of(tmp_path)
    assert (read_all(tmp_path), kept.results()) == (({}, {}), ([], []))
    file.close()
    assert [one.header["model"] for one in read_all(tmp_path)[0].values()] == ["m"]
    assert [one.why for one in kept.results()[0]] == ["it was interrupted; run the same command again"]


@pytest.mark.parametrize("changes", [{"capabilities": None}, {"milestones": [{}]}, {"settings": {"speed": 9}}], ids=str)
def test_a_run_that_lacks_something_is_named_and_left_out(tmp_path, changes):
    head = header(parse(FIRST_LOG), Settings(), "m", 1) | changes
    RunFile(tmp_path / FOLDER / "run.jsonl", head, datetime(2026, 3, 1, tzinfo=UTC)).close()
    results, errors = kept_of(tmp_path).results()
    assert results == []
    assert [str(one).startswith(f"run {head['run']} cannot be read") for one in errors] == [True]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--model", "scripted/ahed"], 2, "did you mean 'ahead'"),
        (["--model", "scripted/unknown"], 2, "There are scripted/still, scripted/ahead, scripted/careless"),
        (["--model", "nobody/knows"], 1, "cannot be used"),
        (["--model", "openai/m"], 1, "OpenAI client No OPENAI_API_KEY, "),
        (["--model", "scripted/ahead", "--protocol", "papr"], 2, "did you mean 'paper'"),
        (["--model", "scripted/ahead", "--goal", "hiden"], 2, "did you mean 'hidden'"),
        (["--model", "m", "--address", ""], 2, "--address takes the address of a server"),
        (["--model", "m", "--address", "127.0.0.1:8080/v1"], 2, "--address takes the address of a server"),
        (["--model", " ", "--address", "http://127.0.0.1:9/v1"], 2, "--model is empty"),
        (["--model", "m", "--key-env", "A_KEY"], 2, "--key-env needs --address"),
        (["--model", "m", "--address", "http://127.0.0.1:9", "--key-env", "NOT_SET_ANYWHERE"], 1, "is not set"),
    ],
)
def test_what_cannot_be_run_says_what_to_do(arguments, status, words, instance, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SystemExit) as stop:
        main(["explore", "run", str(instance), "--steps", "2", "--data", str(tmp_path / "data"), *arguments])
    said = capsys.readouterr()
    assert stop.value.code == status
    assert words in said.out + said.err


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ("m=1", "--price takes MODEL=IN,OUT"),
        ("m=nan,1", "--price takes MODEL=IN,OUT"),
        ("m=1,-1", "--price takes MODEL=IN,OUT"),
        ("modle=1,2", "unknown model 'modle'"),
    ],
)
def test_a_price_that_means_nothing_is_refused(price, words, tmp_path, capsys):
    head = header(parse(FIRST_LOG), Settings(), "model", 1)
    RunFile(tmp_path / FOLDER / "run.jsonl", head, datetime(2026, 3, 1, tzinfo=UTC)).close()
    with pytest.raises(SystemExit) as stop:
        main(["explore", "results", "--data", str(tmp_path), "--price", price])
    assert stop.value.code == 2
    assert words in capsys.readouterr().err


def test_a_run_that_another_process_plays_says_so(instance, tmp_path, capsys):
    arguments = ("run", str(instance), "--model", "scripted/still", "--steps", "2", "--data", str(tmp_path))
    head = header(load(instance), Settings(max_steps=2), "scripted/still", 1)
    with closing(RunFile(tmp_path / FOLDER / f"{head['run']}.jsonl", head, datetime(2026, 3, 1, tzinfo=UTC))):
        status, said = explore(capsys, *arguments)
    assert status == 1
    assert "another process plays this run" in said["failed"][0]["error"]
    assert explore(capsys, *arguments)[0] == 0, "later it goes on"


def test_results_of_no_runs_say_how_to_make_some(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["explore", "results", "--data", str(tmp_path)])
    assert stop.value.code == 1
    assert "interplay explore run PATH" in capsys.readouterr().err


def test_without_inspect_the_command_says_how_to_install_it(instance, tmp_path):
    arguments = ["explore", "run", str(instance), "--model", "m", "--data", str(tmp_path / "data")]
    code = f"import sys\nsys.modules['inspect_ai'] = None\nfrom interplay.cli import main\nmain({arguments!r})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "pip install -e '.[explore]'" in result.stderr


def test_a_refused_reply_shows_no_keys_and_says_why():
    """A server withheld what could be played; a macro was called with what means nothing; then a run of an older file."""
    withheld = {"output": {"completion": '{"action": {"attack": 1, "camera": [0, 9]}}'}}
    called = {"function": "mine", "arguments": {"target": "oak_lgo"}}
    macro = {"output": {"choices": [{"message": {"tool_calls": [called]}}]}}
    asked, whys = [[0, "refusal"], [0, "bad_value"]], {"1": "there is no block or mob 'oak_lgo'"}
    head = {"settings": Settings("assisted").to_json()}
    end = {"num_steps": 1, "asked": asked, "whys": whys}
    first, second = calls_of(Run(head, (withheld, macro), end=end))
    assert (first.is_refused, first.keys, first.camera) == (True, (), None)
    assert first.why == KINDS["refusal"]
    assert (second.tool, second.is_refused, second.why) == ("mine", True, whys["1"])
    older = calls_of(Run(head, (withheld, macro), end={"num_steps": 1, "asked": asked}))
    assert [call.why for call in older] == [KINDS["refusal"], KINDS["bad_value"]]


@pytest.mark.long_proof
@pytest.mark.parametrize("protocol", ["paper", "hold", "tools", "assisted"])
def test_a_run_file_alone_says_what_each_call_led_to(instance, tmp_path, capsys, protocol):
    data = tmp_path / "data"
    arguments = ("--model", "scripted/careless", "--protocol", protocol, "--steps", "40", "--data", str(data))
    assert explore(capsys, "run", str(instance), *arguments)[0] == 0
    (run,) = read_all(data)[0].values()
    assert run.end is not None
    calls = calls_of(run)
    assert sum(call.ticks for call in calls) == run.end["num_steps"] == 40
    assert Counter(kind for call in calls for kind in call.kinds) == run.end["replies"]
    assert [call.tick for call in calls] == [sum(one.ticks for one in calls[:place]) for place in range(len(calls))]
    assert any(call.is_refused for call in calls)
    assert any(call.camera for call in calls)
    assert len(run.end["path"]) == 41
    assert run.end["path"][0] == [0.5, 0.0, 0.5]
    assert not any(call.keys or call.camera for call in calls if call.is_refused)
    assert all(call.why for call in calls if call.is_refused)
    first, *later = run.end["seen"]
    assert first == {
        **{"tick": 0, "slots": [], "hotbar": 0, "health": 20.0, "food": 20},
        "facts": {"mine_oak_log": [[False, 0]]},
    }
    assert [one["tick"] for one in later] == sorted({one["tick"] for one in later})
    assert run.instance is not None
    assert run.instance.task_text == "Get a log of oak."

"""Model judges: a model that learns what decides, says how sure it is, and stays apart from people's answers."""

import json
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import START, TASKS, episode_id
from model_judges_world import SKILL, TASK, answered

from interplay.cli import main
from interplay.errors import NotFoundError
from interplay.model_judges import (
    Calibration,
    ModelJudgeError,
    VisionJudge,
    VisionJudgeError,
    answer_all,
    answer_by_looking,
    calibrate,
    fit_preference,
    fit_yes_no,
    load,
    load_all,
    save,
)
from interplay.model_judges.calibration import measure
from interplay.model_judges.cross_validation import cross_validate, fit_carefully, folds
from interplay.model_judges.features import COLUMNS, ROWS, from_samples, from_video, matrix
from interplay.model_judges.outcomes import OUTCOMES, UNDECIDED, likeliest
from interplay.model_judges.preference import PreferenceModel, Scale
from interplay.model_judges.saving import Contest, saving_curve
from interplay.model_judges.vision import UnansweredPairError, prompt, read_reply
from interplay.rank import davidson
from interplay.store import Answer, Match
from interplay.store import judging as store
from interplay.store.judging.model_judges import judged_pairs
from interplay.tasks import find


def davidson_answers(num, rng, *, weights=(3.0, -2.0, 0.0, 0.0), draw=0.3):
    """Answers drawn from the model itself."""
    left, right = rng.normal(size=(2, num, len(weights)))
    truth = PreferenceModel(np.array(weights), draw)
    p = truth.probabilities(left, right)
    outcomes = np.array([rng.choice(OUTCOMES, p=row) for row in p])
    return left, right, outcomes, p


def test_the_fit_finds_the_weights_that_made_the_answers():
    left, right, outcomes, _ = davidson_answers(20_000, np.random.default_rng(0))
    model = fit_preference(left, right, outcomes, penalty=1e-3)
    assert model.weights == pytest.approx([3.0, -2.0, 0, 0], abs=0.12)
    assert model.draw == pytest.approx(0.3, abs=0.06)


def test_with_a_feature_for_each_agent_it_is_the_model_that_ranks_agents():
    rng = np.random.default_rng(11)
    strength, n = np.array([0.0, 0.7, 1.5]), 3
    left, right = np.array([rng.permutation(n)[:2] for _ in range(600)]).T
    features = np.eye(n)
    p = PreferenceModel(strength, 0.2).probabilities(features[left], features[right])
    outcomes = np.array([rng.choice(OUTCOMES, p=row) for row in p])
    wins, ties = np.zeros((2, n, n))
    np.add.at(
        wins, (np.where(outcomes == "right", right, left), np.where(outcomes == "right", left, right)), outcomes != "draw"
    )
    np.add.at(ties, (left, right), outcomes == "draw")
    ranked = davidson.fit(wins, ties + ties.T)
    model = fit_preference(features[left], features[right], outcomes, penalty=1e-6)
    assert model.weights - model.weights.mean() == pytest.approx(ranked.log_strength, abs=1e-3)
    assert np.exp(model.draw) == pytest.approx(ranked.nu, abs=1e-3)


def test_swapping_the_sides_swaps_the_probabilities():
    left, right, outcomes, _ = davidson_answers(200, np.random.default_rng(1))
    model = fit_preference(left, right, outcomes, penalty=1.0)
    assert model.probabilities(left, right) == pytest.approx(model.probabilities(right, left)[:, ::-1])


def test_answers_without_draws_give_draws_no_chance():
    left, right, outcomes, _ = davidson_answers(200, np.random.default_rng(2), draw=-50.0)
    p = fit_preference(left, right, outcomes, penalty=1.0).probabilities(left, right)
    assert (p[:, 1] == 0).all()
    assert p.sum(axis=1) == pytest.approx(1)


def test_the_gradient_is_that_of_the_loss():
    left, right, outcomes, _ = davidson_answers(50, np.random.default_rng(3))
    model = fit_preference(left, right, outcomes, penalty=2.0)

    def loss(weights, draw):
        p = PreferenceModel(weights, draw).probabilities(left, right)
        column = [OUTCOMES.index(one) for one in outcomes]
        return -np.log(p[np.arange(50), column]).sum() + weights @ weights

    at_best = loss(model.weights, model.draw)
    for place in range(4):
        for step in (-1e-3, 1e-3):
            moved = model.weights.copy()
            moved[place] += step
            assert loss(moved, model.draw) >= at_best - 1e-7
    assert min(loss(model.weights, model.draw + step) for step in (-1e-3, 1e-3)) >= at_best - 1e-7


def test_a_model_that_knows_nothing_prefers_no_side():
    p = PreferenceModel(np.zeros(2), -1.0).probabilities(np.zeros((3, 2)), np.zeros((3, 2)))
    assert likeliest(p).tolist() == [UNDECIDED] * 3
    assert measure(p, ["left", "left", "right"], [1, 2, 3], []).decided_accuracy == 0.5


def test_an_outcome_that_is_none_is_refused():
    with pytest.raises(ValueError, match="one of left, draw, right, got 'both'"):
        fit_preference(np.zeros((1, 1)), np.zeros((1, 1)), ["both"], penalty=1.0)
    with pytest.raises(ValueError, match="no answers"):
        fit_preference(np.zeros((0, 1)), np.zeros((0, 1)), [], penalty=1.0)


def test_a_question_everybody_answers_alike_has_a_finite_model():
    model = fit_yes_no(np.zeros((30, 2)), [True] * 30, penalty=1.0)
    assert model.probabilities(np.zeros((1, 2)))[0] > 0.9
    assert np.isfinite(model.intercept)


def test_seeds_are_never_on_both_sides_of_a_split():
    groups = np.random.default_rng(4).integers(0, 11, 300)
    fold = folds(groups, 5, np.random.default_rng(5))
    assert set(fold) == set(range(5))
    assert all(len(set(fold[groups == group])) == 1 for group in set(groups))


def test_unseen_predictions_are_calibrated_where_the_model_is_right():
    rng = np.random.default_rng(6)
    left, right, outcomes, truth = davidson_answers(1500, rng)
    groups = rng.integers(0, 11, 1500)
    p = cross_validate(left, right, outcomes, groups, rng)
    found = measure(p, outcomes, groups, [])
    assert found.brier < 0.95 * found.brier_reference
    assert found.log_loss < found.log_loss_reference
    assert found.calibration_error < 0.1
    assert found.accuracy == pytest.approx((truth.argmax(axis=1) == [OUTCOMES.index(o) for o in outcomes]).mean(), abs=0.05)
    assert sum(one.num_answers for one in found.bins) == 1500
    assert Calibration.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_features_that_say_nothing_are_worth_nothing():
    rng = np.random.default_rng(7)
    left, right = rng.normal(size=(2, 400, 5))
    outcomes, groups = rng.choice(OUTCOMES, 400), rng.integers(0, 11, 400)
    p = cross_validate(left, right, outcomes, groups, rng)
    found = measure(p, outcomes, groups, [])
    assert found.brier == pytest.approx(found.brier_reference, abs=0.03)
    model, penalty = fit_carefully(left, right, outcomes, groups, rng)
    assert penalty >= 30
    assert np.abs(model.weights).max() < 0.2


def test_unknown_features_are_taken_for_middling_ones():
    values = matrix([{"a": 1.0}, {"a": 3.0, "b": 5.0}], ["a", "b", "ended:quit"])
    assert np.isnan(values[0, 1])
    assert values[:, 2].tolist() == [0, 0]
    scale = Scale.of(["a", "b", "ended:quit"], values)
    assert scale(values)[0].tolist() == [-1, 0, 0]
    assert scale(np.array([[1e9, np.nan, 0]]))[0].tolist() == [5, 0, 0]


def test_features_tell_a_still_video_from_a_lively_one():
    still = np.full((10, ROWS, COLUMNS, 3), 90, np.uint8)
    lively = np.random.default_rng(0).integers(0, 255, (10, ROWS, COLUMNS, 3)).astype(np.uint8)
    assert from_samples(still)["video:still"] == 1
    assert from_samples(lively)["video:still"] == 0
    assert from_samples(lively)["video:novelty"] > from_samples(still)["video:novelty"] == 0
    assert from_samples(still[:1])["video:change"] == 0


def test_a_file_that_is_no_video_is_named(tmp_path):
    path = tmp_path / "broken.mp4"
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"broken\.mp4 cannot be read as a video"):
        from_video(path)


# Over an archive


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    archive = answered(tmp_path_factory.mktemp("judged") / "data")
    yield archive
    archive.database.close()


@pytest.fixture(scope="module")
def judge(judged):
    return calibrate(judged, TASK, seed=1, now=START, questions=find(TASK).questions)


def test_a_judge_learns_what_people_look_at_and_says_how_sure_it_is(judge):
    found = judge.calibration
    assert found.num_answers == 300
    assert found.num_groups == 11
    assert found.accuracy > found.commonest + 0.1
    assert found.decided_accuracy > 0.75
    assert found.brier < found.brier_reference
    assert {"reward"} & {name for name, _ in judge.strongest(3)}
    assert {one.question for one in found.factors} == {
        question.id for question in find(TASK).questions if question.kind != "overall"
    }
    assert all(one.agreement >= one.commonest - 0.1 for one in found.factors)
    assert found.num_people_pairs > 0
    assert found.saving[0].num_answers == 5
    assert found.saving[-1].num_answers == 300
    assert found.saving[-1].people == pytest.approx(1)


def test_a_judge_is_the_same_for_the_same_seed_and_survives_its_file(judged, judge, tmp_path):
    again = calibrate(judged, TASK, seed=1, now=START, questions=find(TASK).questions)
    assert again.to_json() == judge.to_json()
    path = save(judge, tmp_path)
    assert path == tmp_path / "models" / "judges" / "preference" / f"{TASK.replace('/', '--')}.json"
    assert load(tmp_path, "preference", TASK).to_json() == judge.to_json()
    assert [one.task for one in load_all(tmp_path)] == [TASK]


def test_programs_are_no_people_to_learn_from(judged, judge):
    with judged.database.read() as session:
        before = len(judged_pairs(session, TASK))
        one = session.scalars(sa.select(Match).where(Match.task == TASK).limit(1)).one()
        columns = {column.key: getattr(one, column.key) for column in sa.inspect(Match).column_attrs}
    with judged.database.write() as session:
        match = Match(**columns | {"id": "f" * 24, "judge": "robot", "judge_kind": "program", "answered_at": None})
        session.add(match)
        session.flush()
        store.append_answer(
            session, match, created_at=START, duration_s=60.0, outcome="left", responses={}, reason="r" * 100, viewing={}
        )
    with judged.database.read() as session:
        assert "program" in set(session.scalars(sa.select(Answer.judge_kind)))
        pairs = judged_pairs(session, TASK)
    assert len(pairs) == before == 300
    assert "robot" not in {pair.judge for pair in pairs}


def test_the_strongest_features_are_told_as_surely_as_the_judge_is_sure(judge):
    name, weight = judge.strongest(1)[0]
    place = judge.scale.names.index(name)
    assert weight == pytest.approx(judge.overall.weights[place] / judge.overall.temperature)
    one_more = np.eye(len(judge.scale.names))[[place]]
    p = judge.overall.probabilities(one_more, np.zeros_like(one_more))[0]
    assert np.log(p[0] / p[2]) == pytest.approx(weight)


def test_a_judge_of_another_version_is_made_anew(judge, tmp_path):
    path = save(judge, tmp_path)
    document = json.loads(path.read_text())
    del document["model_version"]
    path.write_text(json.dumps(document))
    with pytest.raises(ModelJudgeError, match=r"by another version of Interplay\nMake it again:  interplay judge calibrate"):
        load(tmp_path, "preference", TASK)


def test_without_scipy_learning_says_what_to_install(judged, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(SystemExit, match="1"):
        main(["judge", "calibrate", "--data", str(judged.root)])
    assert (
        "to learn, model judges need scipy, which is not installed\nInstall it with:  pip install -e '.[report]'"
        in capsys.readouterr().err
    )


def test_its_answers_are_marked_and_move_no_rating_of_peoples(judged, judge):
    with judged.database.read() as session:
        before = [tuple(answer) for answer in store.answers(session)]
    answered = answer_all(judged, judge, now=START)
    assert answered == (11 * 10, 0)  # seeds times pairs of five agents; it can tell all of them apart
    with judged.database.read() as session:
        assert [tuple(answer) for answer in store.answers(session)] == before
        said = session.scalars(sa.select(Answer).where(Answer.judge == "model:preference")).all()
    assert {answer.judge_kind for answer in said} == {"model"}
    assert all(sum(answer.viewing["probabilities"].values()) == pytest.approx(1, abs=1e-5) for answer in said)
    better = [answer for answer in said if {answer.left_agent, answer.right_agent} == {"best", "idle"}]
    assert all({"left": a.left_agent, "right": a.right_agent}.get(a.outcome) == "best" for a in better)
    assert answer_all(judged, judge, now=START).num_new == 0  # it says each thing once


def test_pairs_without_videos_are_answered_by_nobody(judged, judge):
    hidden = [judged.video_path(episode_id(TASK, "best", seed)) for seed in find(TASK).held_out_seeds]
    for path in hidden:
        path.rename(path.with_suffix(".hidden"))
    try:
        assert answer_all(judged, replace(judge, name="blind"), now=START).num_new == 11 * 6
    finally:
        for path in hidden:
            path.with_suffix(".hidden").rename(path)


def test_too_few_answers_say_how_to_collect_more(judged):
    with pytest.raises(ModelJudgeError, match=r"has 0 answers by people .* needs 20 .*\n.*interplay serve"):
        calibrate(judged, TASKS[0], now=START)


def test_a_judge_that_is_not_there_is_asked_for_by_the_command_that_makes_it(judge, tmp_path):
    save(judge, tmp_path)
    with pytest.raises(NotFoundError, match=r"(?s)did you mean.*preference.*interplay judge calibrate"):
        load(tmp_path, "preferense", TASK)
    with pytest.raises(ModelJudgeError, match="name is 1 to 64 letters"):
        load(tmp_path, "../evil", TASK)


def test_a_damaged_file_is_named_and_passed_over_in_lists(judge, tmp_path):
    path = save(judge, tmp_path)
    path.write_text(path.read_text()[:100])
    assert load_all(tmp_path) == []
    with pytest.raises(ModelJudgeError, match=r"cannot be used: JSONDecodeError(?s:.*)interplay judge calibrate"):
        load(tmp_path, "preference", TASK)


def test_the_curve_needs_enough_agents_and_answers():
    contest = Contest(("a", "b"), np.zeros(0, int), np.zeros(0, int), np.zeros(0, str))
    assert saving_curve(contest, lambda drawn: np.zeros((2, 2)), np.random.default_rng(0)) == ()


# A model that looks


class FakeModel(BaseHTTPRequestHandler):
    """A chat-completions server whose model prefers the brighter last frame, or always the left, or talks nonsense."""

    mode = "bright"

    def do_POST(self):
        import base64

        import simplejpeg

        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.mode == "refuse":
            self.send_error(401, "bad key")
            return
        content = body["messages"][0]["content"]
        pictures = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        bright = [
            simplejpeg.decode_jpeg(base64.b64decode(one.partition(",")[2])).mean()
            for one in (pictures[len(pictures) // 2 - 1], pictures[-1])
        ]
        outcome = "left" if self.mode == "left" or bright[0] > bright[1] else "right"
        text = {"nonsense": "I cannot say."}.get(
            self.mode, "Here you are: " + json.dumps({"outcome": outcome, "reason": "light"})
        )
        reply = json.dumps({"choices": [{"message": {"content": text}}], "usage": {"total_tokens": 7}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *args):
        pass


@pytest.fixture
def model_server():
    server = HTTPServer(("127.0.0.1", 0), FakeModel)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    FakeModel.mode = "bright"


def look(archive, address, tmp_path, **options):
    eye = VisionJudge(address, "tiny", key="k", calls=tmp_path / "calls.jsonl")
    task = find(TASK)
    with httpx.Client() as client:
        return answer_by_looking(
            archive, options.pop("name", "eye"), TASK,
            lambda left, right: eye.ask(task.goal, task.questions, left, right, client=client),
            now=lambda: START, rng=np.random.default_rng(0), **options,
        )  # fmt: skip


def test_a_model_that_looks_answers_and_goes_on_where_it_stopped(judged, model_server, tmp_path):
    assert look(judged, model_server, tmp_path, limit=5) == 5
    assert look(judged, model_server, tmp_path, limit=5) == 5
    with judged.database.read() as session:
        said = session.scalars(sa.select(Answer).where(Answer.judge == "model:eye")).all()
    assert len(said) == 10
    for answer in said:
        brighter = max(answer.left_agent, answer.right_agent, key=SKILL.get)
        assert {"left": answer.left_agent, "right": answer.right_agent}[answer.outcome] == brighter
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert len(calls) == 20  # both ways round
    assert calls[0]["reply"]["usage"] == {"total_tokens": 7}
    assert len(calls[0]["pictures"]["left"]) == 8


@pytest.mark.journey("vision-language models that compare videos")
def test_the_command_ends_with_how_often_the_model_says_what_people_say(judged, model_server, capsys):
    look = ["judge", "by-model", "--task", TASK, "--vision", model_server, "--model", "tiny", "--limit", "20"]
    with pytest.raises(SystemExit, match="0"):
        main([*look, "--seed", "1", "--data", str(judged.root)])
    text = capsys.readouterr().out
    assert f"{TASK}: 20 new answers as model:vision" in text  # not the name of the judge that learns
    assert "people's answers" in text
    assert "they count as certain" in text
    with pytest.raises(SystemExit, match="0"):
        main([*look, "--seed", "1", "--data", str(judged.root), "--json"])
    document = json.loads(capsys.readouterr().out)
    found = document["agreement"][TASK]
    assert document["new_answers"] == {TASK: 20}
    assert 0 < found["num_pairs"] <= 40
    assert found["accuracy"]["low"] < found["accuracy"]["share"] < found["accuracy"]["high"]
    assert found["num_certain"] == found["num_answers"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--limit", "3"], "--limit needs --vision"),
        (["--model", "tiny"], "--model needs --vision"),
        (["--key-env", "NO_SUCH_KEY"], "--key-env needs --vision"),
        (["--vision", "http://127.0.0.1:9"], "--vision ADDRESS --model NAME"),
        (
            ["--vision", "http://127.0.0.1:9", "--model", "tiny", "--key-env", "NO_SUCH_KEY"],
            "the environment variable NO_SUCH_KEY is not set",
        ),
    ],
)
def test_what_a_model_that_looks_needs_is_said_before_any_pair_is_asked_about(judged, monkeypatch, capsys, options, message):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["judge", "by-model", *options, "--data", str(judged.root)])
    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_model_that_follows_the_side_calls_draws(judged, model_server, tmp_path):
    FakeModel.mode = "left"
    look(judged, model_server, tmp_path, name="one-sided", limit=3)
    with judged.database.read() as session:
        assert set(session.scalars(sa.select(Answer.outcome).where(Answer.judge == "model:one-sided"))) == {"draw"}


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("nonsense", r"none of 1 pairs got a usable answer; the first error:\n.*without a JSON object: 'I cannot say.'"),
        ("refuse", "answered 401"),
    ],
)
def test_a_model_that_gives_no_answer_is_an_error_and_nothing_is_logged(judged, model_server, tmp_path, mode, message):
    FakeModel.mode = mode
    with pytest.raises(VisionJudgeError, match=message):
        look(judged, model_server, tmp_path, name=f"bad-{mode}", limit=1)
    with judged.database.read() as session:
        assert session.scalars(sa.select(Answer).where(Answer.judge == f"model:bad-{mode}")).all() == []


def test_one_bad_reply_is_passed_over_and_asked_about_again(judged, tmp_path):
    replies = iter([UnansweredPairError("gibberish")])

    def ask(left, right):
        if (error := next(replies, None)) is not None:
            raise error
        return {"outcome": "left", "responses": {}, "reason": ""}

    told = []
    options = {"now": lambda: START, "limit": 4, "on_progress": lambda what, done, total: told.append(what)}
    rng = np.random.default_rng(0)
    assert answer_by_looking(judged, "stutterer", TASK, ask, rng=rng, **options) == 3
    assert "1 unanswered" in told[-1]
    with judged.database.read() as session:
        assert len(session.scalars(sa.select(Answer).where(Answer.judge == "model:stutterer")).all()) == 3
    options["limit"] = None
    assert answer_by_looking(judged, "stutterer", TASK, ask, rng=rng, **options) == 11 * 10 - 3


def test_a_server_that_is_not_there_is_named(judged, tmp_path):
    with pytest.raises(VisionJudgeError, match=r"does not answer(?s:.*)running"):
        look(judged, "http://127.0.0.1:9/v1", tmp_path, name="nobody", limit=1)


def test_the_prompt_asks_every_question_and_replies_are_read_leniently():
    task = find(TASK)
    text = prompt(task.goal, task.questions)
    assert all(question.id in text for question in task.questions if question.kind != "overall")
    direct = next(question for question in task.questions if question.kind == "direct")
    reply = read_reply(json.dumps({"outcome": "draw", "responses": {direct.id: {"left": True}}}), task.questions)
    assert reply["responses"][direct.id] == {"left": True, "right": False}
    assert all(reply["responses"][one.id] == "na" for one in task.questions if one.kind == "comparative")
    lists = {question.id: ["left"] for question in task.questions}
    said = read_reply(json.dumps({"outcome": "left", "responses": lists, "reason": "a\0b\ud800"}), task.questions)
    assert set(said["responses"].values()) == {"na"}
    said["reason"].encode()
    assert "\0" not in said["reason"]
    for text in ('{"outcome": "both"}', '{"outcome": ["left"]}'):
        with pytest.raises(VisionJudgeError, match="not left, draw or right"):
            read_reply(text, task.questions)

"""Model judges that know nothing: guesses are scored as guesses, unseen episodes left out, and it is said plainly."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import START
from model_judges_world import TASK, answered, small_video
from published_rows import synthetic_answers
from test_model_judges import davidson_answers

import interplay.record
from interplay.cli import main
from interplay.judge.published import import_answers
from interplay.model_judges import ModelJudgeError, PreferenceModel, answer_all, calibrate, load, save
from interplay.model_judges.calibration import Calibration, gain_low, measure, split
from interplay.model_judges.cross_validation import (
    comparative_agreement,
    cross_validate,
    direct_agreement,
    fit_carefully,
    leave_agents_out,
    names_only,
)
from interplay.model_judges.features import known
from interplay.model_judges.outcomes import OUTCOMES, UNDECIDED, chance_right, likeliest
from interplay.store import Answer, EpisodeRow
from interplay.tasks import find

pytestmark = pytest.mark.long_proof

CAVE = "basalt/find_cave"


def test_who_cannot_tell_the_sides_apart_tosses_a_coin():
    p = np.array([[0.45, 0.1, 0.45]] * 2000)
    outcomes = np.random.default_rng(0).choice(OUTCOMES, 2000, p=p[0])
    found = measure(p, outcomes, [1] * 2000, [])
    decided = (outcomes != "draw").mean()
    assert found.accuracy == pytest.approx(decided / 2)  # half of what names a side, none of the draws
    assert found.accuracy == pytest.approx(0.45, abs=0.02)
    assert found.calibration_error < 0.02
    assert found.decided_accuracy == 0.5
    assert not found.is_better_than_shares


def test_what_is_likeliest_is_scored_with_its_own_probability():
    p = np.array([[0.4, 0.2, 0.4], [0.2, 0.6, 0.2], [0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3]])
    assert likeliest(p).tolist() == [UNDECIDED, 1, 0, UNDECIDED]
    assert chance_right(p, np.array([2, 1, 2, 1])).tolist() == pytest.approx([0.5, 1, 0, 1 / 3])
    found = measure(p[:3], ["left", "draw", "left"], [1, 2, 3], [])
    assert found.accuracy == pytest.approx(2.5 / 3)
    used = {round(one.predicted, 3): one.observed for one in found.bins if one.num_answers}
    assert used == {0.4: 0.5, 0.5: 1.0, 0.6: 1.0}


def test_agreement_about_questions_counts_a_guess_as_a_guess():
    nothing, seeds = np.zeros((60, 2)), np.arange(60) % 6
    said = np.array(["left", "right", "left", "right", "draw"] * 12)
    agreement, commonest = comparative_agreement(nothing, nothing, said, seeds, 1.0, np.random.default_rng(0))
    assert agreement == pytest.approx(0.4)  # half of the 80 % that name a side
    assert commonest == pytest.approx(0.4)
    one_seed = direct_agreement(nothing, [True, False, False] * 20, [1] * 60, 1.0, np.random.default_rng(0))
    assert one_seed == (0.5, pytest.approx(2 / 3))  # nothing to learn from, so yes or no is a toss


def test_a_gain_has_to_be_more_than_luck():
    rng = np.random.default_rng(3)
    left, right, outcomes, _ = davidson_answers(400, rng)
    groups = rng.integers(0, 11, 400)
    assert measure(cross_validate(left, right, outcomes, groups, rng), outcomes, groups, []).is_better_than_shares
    few = slice(0, 3)
    assert not measure(np.full((3, 3), 1 / 3), outcomes[few], groups[few], []).is_better_than_shares


def test_an_episode_is_known_by_its_video_or_by_a_fact_that_differs():
    same = {"steps": 4.6, "ended:terminated": 1.0}
    assert known({"a": same, "b": same, "c": {}, "d": same | {"video:change": 0.1}}) == {"d"}
    assert known({"a": same, "b": same | {"statistic:score": 1.0}, "c": same | {"statistic:score": 2.0}}) == {"b", "c"}
    assert known({"a": same, "b": {"steps": 4.6, "ended:time_limit": 1.0}}) == {"a", "b"}
    assert known({}) == set()


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The published set: as a file, and videos of six agents in one task, brighter ones of better agents."""
    folder = tmp_path_factory.mktemp("published")
    items = [item for item in synthetic_answers(0) if item["task"] == "FindCave"]
    (folder / "answers.json").write_text(json.dumps(items))
    agents = sorted({episode["agent_name"] for item in items for episode in item["episodes"]})[:6]
    for item in items:
        for episode in item["episodes"]:
            if episode["agent_name"] in agents:
                path = folder / "videos" / episode["agent_name"] / "FindCave" / f"seed_{episode['seed']}.mp4"
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.exists():
                    small_video(path, 20 * agents.index(episode["agent_name"]))
    shown = sum(all(episode["agent_name"] in agents for episode in item["episodes"]) for item in items)
    return folder, len(items), shown


def run(capsys, root, *arguments):
    try:
        main(["judge", *arguments, "--data", str(root)])
        status = 0
    except SystemExit as end:
        status = end.code or 0
    return status, *capsys.readouterr()


def test_a_published_set_without_videos_teaches_nothing_and_says_what_to_do(published, tmp_path, capsys):
    folder, num_all, _ = published
    with_nothing = interplay.record.open(tmp_path / "data")
    import_answers(with_nothing, folder / "answers.json")
    with pytest.raises(ModelJudgeError, match=r"no video of their episodes is here\nImport the videos:  .*--videos"):
        calibrate(with_nothing, CAVE, now=START)
    with_nothing.close()
    status, _, errors = run(capsys, tmp_path / "data", "calibrate", "--task", CAVE)
    assert status == 1
    assert f"{num_all:,} of {num_all:,} answers were left out" in errors
    assert "interplay judge import FILE --videos DIR" in errors


def test_answers_about_episodes_nobody_has_here_are_left_out_and_counted(published, tmp_path, capsys):
    folder, num_all, num_shown = published
    assert 20 < num_shown < num_all
    archive = interplay.record.open(tmp_path / "data")
    import_answers(archive, folder / "answers.json", videos=folder / "videos")
    text = run(capsys, archive.root, "calibrate", "--seed", "0")[1]
    assert f"{num_all - num_shown:,} of {num_all:,} answers are left out: this server has no video of their episodes" in text
    judge = load(archive.root, "preference", CAVE)
    assert (judge.calibration.num_answers, judge.calibration.num_left_out) == (num_shown, num_all - num_shown)
    assert not {"reward", "ended:unknown"} & {name for name, _ in judge.strongest(99)}
    assert answer_all(archive, judge, now=START).num_new > 0
    with archive.database.read() as session:
        paths = dict(session.execute(sa.select(EpisodeRow.id, EpisodeRow.path)).all())
        said = session.scalars(sa.select(Answer).where(Answer.judge_kind == "model")).all()
        assert all(paths[episode] for answer in said for episode in _episodes(session, answer))
    archive.close()
    document = json.loads(run(capsys, tmp_path / "data", "calibrate", "--seed", "0", "--json")[1])
    assert document["tasks"][CAVE]["num_left_out"] == num_all - num_shown


def _episodes(session, answer):
    from interplay.store import Match

    match = session.get(Match, answer.match_id)
    return match.left_episode_id, match.right_episode_id


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """300 answers about five agents, and the judge that learnt from them."""
    archive = answered(tmp_path_factory.mktemp("trained") / "data")
    judge = calibrate(archive, TASK, seed=1, now=START, questions=find(TASK).questions)
    save(judge, archive.root)
    yield archive, judge
    archive.close()


def weighing(judge, name, feature, draw=-3.0):
    """The same judge under another name, which only looks at one feature."""
    weights = np.array([float(one == feature) for one in judge.scale.names])
    return replace(judge, name=name, overall=PreferenceModel(weights, draw))


def answers_of(archive, name):
    with archive.database.read() as session:
        return session.scalars(sa.select(Answer).where(Answer.judge == f"model:{name}")).all()


def test_a_pair_that_cannot_be_told_apart_is_answered_by_nobody(trained):
    archive, judge = trained
    assert answer_all(archive, weighing(judge, "counter", "steps"), now=START) == (0, 110)  # they all took 100 steps
    assert answers_of(archive, "counter") == []
    assert answer_all(archive, weighing(judge, "even", "steps", draw=3.0), now=START) == (110, 0)
    assert {answer.outcome for answer in answers_of(archive, "even")} == {"draw"}  # likelier than either side


def test_a_pair_without_what_a_judge_looks_at_is_answered_by_nobody(trained):
    archive, judge = trained
    scale = replace(judge.scale, names=tuple(f"statistic:{name}" for name in judge.scale.names))
    stranger = replace(weighing(judge, "stranger", "reward"), scale=scale)
    assert answer_all(archive, stranger, now=START) == (0, 110)


def test_a_question_that_cannot_be_told_is_left_open(trained):
    archive, judge = trained
    question = next(iter(judge.comparative))
    nothing = PreferenceModel(np.zeros(len(judge.scale.names)), -3.0)
    answer_all(archive, replace(judge, name="half", comparative={**judge.comparative, question: nothing}), now=START)
    answers = answers_of(archive, "half")
    assert len(answers) == 110
    assert not any(question in answer.responses for answer in answers)


def test_a_judge_that_has_learnt_nothing_answers_nothing(trained):
    archive, judge = trained
    nothing = replace(judge, name="nobody", overall=PreferenceModel(np.zeros(len(judge.scale.names)), -3.0))
    assert nothing.strongest() == []
    with pytest.raises(ModelJudgeError, match=r"model:nobody has learnt nothing about .*\nCollect more answers, then: "):
        answer_all(archive, nothing, now=START)


def test_one_task_without_videos_does_not_stop_the_others(trained, capsys):
    archive, judge = trained
    for task in ("atari/beam_rider", TASK):  # the first has no agents at all
        save(replace(judge, name="wide", task=task), archive.root)
    status, text, _ = run(capsys, archive.root, "by-model", "--name", "wide")
    assert status == 0
    assert f"{TASK}: 110 new answers as model:wide" in text
    assert "Skipped: there are no two agents with videos of the same seed in atari/beam_rider" in text
    document = json.loads(run(capsys, archive.root, "by-model", "--name", "wide", "--json")[1])
    assert document["new_answers"] == {TASK: 0}
    (skipped,) = document["skipped"]
    assert skipped["task"] == "atari/beam_rider"
    assert "no two agents with videos" in skipped["reason"]
    status, _, errors = run(capsys, archive.root, "by-model", "--name", "wide", "--task", "atari/beam_rider")
    assert status == 1
    assert "error: there are no two agents with videos" in errors


def test_no_task_that_can_be_answered_is_an_error(trained, capsys):
    archive, judge = trained
    save(replace(judge, name="lost", task="atari/beam_rider"), archive.root)
    status, _, errors = run(capsys, archive.root, "by-model", "--name", "lost")
    assert status == 1
    assert "could not answer in any task:\nthere are no two agents with videos of the same seed in atari/beam_rider" in errors


def test_what_is_left_out_for_being_alike_is_told(trained, capsys):
    archive, judge = trained
    save(weighing(judge, "blind", "steps"), archive.root)
    assert (
        "0 new answers as model:blind; 110 pairs left out, because it cannot tell their videos apart"
        in run(capsys, archive.root, "by-model", "--name", "blind")[1]
    )


def test_a_judge_no_better_than_shares_is_not_recommended(tmp_path, capsys):
    archive = answered(tmp_path / "data", is_told=False)
    archive.close()
    text = run(capsys, tmp_path / "data", "calibrate", "--seed", "0")[1]
    assert (
        f"{TASK}: It is not known whether it sees how well an agent plays" in text
        or "no better than the outcomes' shares" in text
    )
    assert "It is not worth letting it answer yet." in text
    assert "Let it answer" not in text


def test_a_judge_that_sees_no_difference_says_that_it_has_learnt_nothing(tmp_path, capsys):
    archive = answered(tmp_path / "data", is_told=False)
    with archive.database.write() as session:
        session.execute(sa.update(EpisodeRow).values(total_reward=3.0))
    one, *others = sorted((archive.root / "media").glob("*.mp4"))
    for path in others:
        shutil.copy(one, path)
    archive.close()
    text = run(capsys, tmp_path / "data", "calibrate", "--seed", "0")[1]
    assert f"{TASK}: it has learnt nothing: no feature predicts which episode people prefer" in text
    assert "strongest features" not in text
    status, _, errors = run(capsys, tmp_path / "data", "by-model")
    assert status == 1
    assert f"model:preference has learnt nothing about {TASK}" in errors


# Recognising agents is not judging them


def a_league(rng, *, num_agents=10, num_answers=1200, sees_quality: bool):
    """Answers about agents of different strength; one feature is the agent's look, which says nothing, or its quality."""
    strength = np.linspace(-2, 2, num_agents)
    looks = rng.normal(size=(num_agents, 6))
    pairs = np.array([rng.choice(num_agents, 2, replace=False) for _ in range(num_answers)])
    p = 1 / (1 + np.exp(strength[pairs[:, 1]] - strength[pairs[:, 0]]))
    outcomes = np.where(rng.random(num_answers) < 0.1, "draw", np.where(rng.random(num_answers) < p, "left", "right"))
    seen = np.concatenate([looks, strength[:, None]], axis=1) if sees_quality else looks
    left, right = (seen[pairs[:, side]] + 0.1 * rng.normal(size=(num_answers, seen.shape[1])) for side in (0, 1))
    agents = [(f"a{one}", f"a{other}") for one, other in pairs.tolist()]
    return left, right, outcomes, rng.integers(0, 8, num_answers), agents


def calibrated(league, rng):
    left, right, outcomes, seeds, agents = league
    by_seed = cross_validate(left, right, outcomes, seeds, rng)
    model, penalty = fit_carefully(left, right, outcomes, seeds, rng)
    how = {"penalty": penalty, "temperature": model.temperature}
    unseen, is_told = leave_agents_out(left, right, outcomes, agents, rng, **how)
    by_name = names_only(agents, outcomes, seeds, rng)
    return replace(
        measure(by_seed, outcomes, seeds, []),
        left_out=split(unseen[is_told], outcomes[is_told]),
        names_only=split(by_name, outcomes),
        gain_over_names_low=gain_low(by_seed, by_name, outcomes),
    )


def test_a_judge_that_recognises_agents_by_a_meaningless_look_is_not_praised():
    found = calibrated(a_league(np.random.default_rng(1), sees_quality=False), np.random.default_rng(0))
    assert found.is_better_than_shares  # by seed it looks good, because it knows the agents
    assert found.decided_accuracy > 0.65
    assert found.left_out.decided_accuracy < 0.6
    assert not found.judges_new_agents
    assert found.names_only.decided_accuracy > found.left_out.decided_accuracy
    assert "it recognises them; it does not judge their play" in found.verdict
    assert Calibration.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_judge_that_sees_quality_passes_on_agents_it_has_not_seen():
    found = calibrated(a_league(np.random.default_rng(2), sees_quality=True), np.random.default_rng(0))
    assert found.judges_new_agents
    assert found.left_out.decided_accuracy > 0.65
    assert found.verdict.startswith("It predicts which of two agents people prefer even if it has seen neither before")


def test_with_too_few_agents_to_leave_some_out_nothing_is_claimed():
    left, right, outcomes, seeds, agents = a_league(np.random.default_rng(3), num_agents=3, num_answers=60, sees_quality=True)
    _, is_told = leave_agents_out(left, right, outcomes, agents, np.random.default_rng(0), penalty=1)
    assert not is_told.any()
    found = measure(np.full((60, 3), 1 / 3), outcomes, seeds, [])
    assert "too few agents" in found.verdict
    old = {
        name: value for name, value in found.to_json().items() if name not in ("left_out", "names_only", "gain_over_names_low")
    }
    assert Calibration.from_json(old).verdict == found.verdict  # a file of before


def test_no_model_of_left_out_agents_has_seen_them():
    """With answers that name the agent itself as the only feature, a model that never saw it can only toss."""
    rng = np.random.default_rng(4)
    names = [f"a{number}" for number in range(6)]
    agents = [tuple(rng.choice(names, 2, replace=False).tolist()) for _ in range(300)]
    outcomes = np.array(["left" if one < other else "right" for one, other in agents])
    left, right = (np.eye(6)[[names.index(pair[side]) for pair in agents]] for side in (0, 1))
    p, is_told = leave_agents_out(left, right, outcomes, agents, rng, penalty=1)
    assert is_told.all()
    assert np.allclose(p[:, 0], p[:, 2])

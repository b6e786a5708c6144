"""Five agents whose return and whose pictures tell their skill, and answers by people who see it."""

import numpy as np
from judging_world import START, TASKS, add_episode

import interplay.record
from interplay.model_judges.outcomes import OUTCOMES
from interplay.store import EpisodeRow, Match
from interplay.store import judging as store
from interplay.store.entrants import admit
from interplay.tasks import find

TASK = TASKS[2]
SKILL = {"idle": 0.0, "poor": 1.0, "fair": 2.0, "good": 3.0, "best": 4.0}


def small_video(path, brightness):
    import av

    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(8):
            picture = np.full((48, 64, 3), min(255, brightness + number), np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode(None):
            container.mux(packet)


def answered(folder, *, is_told=True):
    """Five agents whose return tells their skill, eleven seeds, 300 answers by people who see it, or toss coins."""
    archive = interplay.record.open(folder)
    rng = np.random.default_rng(8)
    task = find(TASK)
    returns = {}
    for agent, skill in SKILL.items():
        for seed in task.held_out_seeds:
            name = add_episode(archive, TASK, agent, seed)
            small_video(archive.video_path(name), int(40 + 30 * skill))
            returns[name] = float(np.exp(skill + 0.5 * rng.normal()))
        with archive.database.write() as session:
            admit(session, name=agent, task=TASK, kind="agent", now=START)
    with archive.database.write() as session:
        for name, value in returns.items():
            session.get(EpisodeRow, name).total_reward = value
    rows = {name: (name.split("-")[-3], int(name.split("-")[-2])) for name in returns}
    names = sorted(returns)
    with archive.database.write() as session:
        for number in range(300):
            seed = int(rng.choice(task.held_out_seeds))
            left, right = rng.choice([name for name in names if rows[name][1] == seed], 2, replace=False)
            d = np.log(returns[left]) - np.log(returns[right])
            p = np.exp([1.5 * d * is_told, 0.0, -1.5 * d * is_told])
            outcome = str(rng.choice(OUTCOMES, p=p / p.sum()))
            match = Match(
                id=f"{number:024x}",
                task=TASK,
                task_hash=task.content_hash,
                seed=seed,
                left_episode_id=str(left),
                right_episode_id=str(right),
                left_agent=rows[left][0],
                right_agent=rows[right][0],
                judge=f"participant-{number % 7}",
                served_at=START,
                seen_at=START,
            )
            session.add(match)
            session.flush()
            responses = {}
            for question in task.questions:
                if question.kind == "comparative":
                    responses[question.id] = outcome
                elif question.kind == "direct":
                    responses[question.id] = {"left": bool(returns[left] > 8), "right": bool(returns[right] > 8)}
            store.append_answer(
                session,
                match,
                created_at=START,
                duration_s=60.0,
                outcome=outcome,
                responses=responses,
                reason="r" * 100,
                viewing={},
            )
    return archive

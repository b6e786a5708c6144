"""The synthetic set as `FullAnswer`s, without a database in between."""

from datetime import UTC, datetime

from bench.synthetic_bedd import TASKS, synthetic_answers
from interplay.store.judging.verdicts import FullAnswer

_SIDES = {"p1": "left", "p2": "right", "draw": "draw", "na": "na"}


def full_answers(forms, seed: int = 0) -> list[FullAnswer]:
    """Every synthetic answer, oldest first; questions are matched by their place in the form."""
    return [_full(number, item, forms) for number, item in enumerate(reversed(synthetic_answers(seed)), start=1)]


def _full(number: int, item: dict, forms) -> FullAnswer:
    metadata, task = item["result"]["eval_metadata"], TASKS[item["task"]]
    said = metadata["responses"]
    direct = [question.id for question in forms[task] if question.kind == "direct"]
    comparative = [question.id for question in forms[task] if question.kind == "comparative"]
    responses = {
        id: {"left": answer["player_1"] == "true", "right": answer["player_2"] == "true"}
        for id, answer in zip(direct, said["direct_question"], strict=True)
    } | {id: _SIDES[answer["answer"]] for id, answer in zip(comparative, said["comparisons"], strict=True)}
    left, right = item["episodes"]
    return FullAnswer(
        sequence=number,
        task=task,
        seed=int(left["seed"]),
        left=left["agent_name"],
        right=right["agent_name"],
        outcome=_SIDES[metadata["win_player"]],
        responses=responses,
        reason=said["justificationText"],
        judge=item["worker_id"],
        created_at=datetime.fromtimestamp(metadata["end_time"] / 1000, UTC),
        duration_s=(metadata["end_time"] - metadata["start_time"]) / 1000,
        viewing={},
    )

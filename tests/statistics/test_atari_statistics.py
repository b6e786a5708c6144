"""The statistics of Space Invaders are true: they equal the rewards, and what a referee sees who knows the pictures alone."""

import itertools

import pytest
from invaders_world import CANNONS, collect

from interplay.agents.scripted.screen import find as find_on_screen
from interplay.envs import make
from interplay.statistics import StatisticError, StatisticSpec
from interplay.tasks import find

COLUMNS = set(range(6))


def verdicts(gone):
    """For each invader that has gone from the screen, in order: (row by row, outside in, inside out)."""
    found, left, wave = [], set(), 0
    for number, row, column in gone:
        if number != wave:
            wave, left = number, {(one, other) for one in range(6) for other in range(6)}
        columns = {other for _, other in left}
        outer = [other for other in COLUMNS if (other < column <= 2) or (other > column >= 3)]
        inner = [other for other in COLUMNS if (column < other <= 2) or (3 <= other < column)]
        by_row = all(one >= row for one, _ in left)
        found.append((by_row, not columns & set(outer), not columns & set(inner)))
        left.discard((row, column))
    return found


@pytest.mark.parametrize("name", ["left", "right", "middle", "rows"])
def test_every_hit_is_a_scoring_reward_and_one_invader_fewer_on_the_screen(games, name):
    game = games[name]
    hits, gone = game.hits, game.referee.gone
    assert len(hits) >= 12
    assert game.counts("aliens_hit") == {"count": len(hits)}
    assert [row for _, row in hits] == [row for _, row, _ in gone]


@pytest.mark.parametrize("name", ["left", "right", "middle", "rows"])
def test_verdicts_equal_those_of_the_pictures(games, name):
    game = games[name]
    by_row, outside_in, inside_out = map(sum, zip(*verdicts(game.referee.gone), strict=True))
    num_hits = len(game.hits)
    assert game.counts("row_by_row") == {"good": by_row, "all": num_hits}
    assert game.counts("outside_in") == {"good": outside_in, "all": num_hits}
    assert game.counts("inside_out") == {"good": inside_out, "all": num_hits}


def test_the_games_are_those_in_which_counting_bits_goes_wrong(games):
    def bits_that_went_out(game):
        pairs = zip(game.boards, game.boards[1:], strict=False)
        return sum((old & ~new).bit_count() for before, now in pairs for old, new in zip(before, now, strict=True))

    assert games["left"].referee.num_waves > 1
    assert bits_that_went_out(games["left"]) > len(games["left"].hits)
    assert bits_that_went_out(games["right"]) == len(games["right"].hits)  # nothing moves while the left column stands


def test_scripts_that_shoot_in_an_order_are_found_to_do_so(games):
    share = {
        (name, order): game.counts(order)["good"] / game.counts(order)["all"]
        for name, game in games.items()
        for order in ("row_by_row", "outside_in", "inside_out")
    }
    assert share["right", "outside_in"] > 0.6 > share["middle", "outside_in"]
    assert share["middle", "inside_out"] > 0.9 > share["left", "inside_out"]
    assert share["rows", "row_by_row"] > 0.5 > share["left", "row_by_row"]


@pytest.mark.parametrize("name", ["competitive", "cooperative"])
def test_a_hit_belongs_to_the_player_who_shot(games_for_two, name):
    game = games_for_two[name]
    num = {seat: sum(one == seat for one, _ in game.hits) for seat in ("first", "second")}
    assert min(num.values()) >= 6
    assert {seat: game.counts("aliens_hit", seat)["count"] for seat in num} == num
    assert sorted(row for _, row in game.hits) == sorted(row for _, row, _ in game.referee.gone)
    good = [sum(column) for column in zip(*verdicts(game.referee.gone), strict=True)]
    for place, order in enumerate(("row_by_row", "outside_in", "inside_out")):
        assert sum(game.counts(order, seat)["good"] for seat in num) == good[place]


def watched(task, script, look):
    """Let a script play: `script(step)` gives the actions, `look(pixels)` is called with each picture after them."""
    env = make(task)
    _, info = env.reset(seed=1)
    collection = collect(task)
    collection.begin(info, env.readings())
    seen = []
    for step, actions in enumerate(script):
        seen.append(look(env.view().pixels))
        _, rewards, terminated, _, info = env.step(actions)
        collection.see(actions, rewards, rewards, info)
        assert not terminated, step
    seen.append(look(env.view().pixels))
    env.close()
    return {(one.seat, one.name): dict(one.counts) for one in collection.measures()}, seen


def test_each_shot_is_counted_once_and_belongs_to_who_fired():
    task = find("atari-two/space_invaders_competitive")
    every = {"first": 97, "second": 131}  # a shot is gone after 84 frames; nobody is hit in the first 280
    script = [{seat: int(step >= 112 and step % period < 2) for seat, period in every.items()} for step in range(270)]
    pressed = {seat: sum(now[seat] and not before[seat] for before, now in itertools.pairwise(script)) for seat in every}
    counts, lives = watched(task, script, lambda pixels: all(find_on_screen(pixels, one, top=185) for one in CANNONS))
    assert all(lives[112:])
    assert pressed == {"first": 1, "second": 2}
    assert {seat: counts[seat, "accuracy"]["shots"] for seat in every} == pressed


def test_shots_of_one_player_are_counted_wherever_they_end():
    script = [{"player": int(step >= 120 and step % 100 < 2)} for step in range(560)]
    pressed = sum(now["player"] and not before["player"] for before, now in itertools.pairwise(script))
    counts, _ = watched(find("atari/space_invaders"), script, lambda pixels: None)
    assert counts["player", "accuracy"] == {"hits": counts["player", "aliens_hit"]["count"], "shots": pressed}
    assert pressed == 4


@pytest.mark.parametrize(("name", "left", "right"), [("space_invaders", 4, 3), ("riverraid", 4, 3)])
def test_the_side_of_the_screen_is_where_the_player_is_seen(name, left, right):
    stay, go = (110, 60) if name == "space_invaders" else (62, 8)
    colour, top, bottom = (CANNONS[0], 185, 195) if name == "space_invaders" else (28, 152, 158)
    script = [{"player": 0}] * stay + [{"player": right}] * go + [{"player": left}] * (2 * go) + [{"player": right}] * 5
    counts, seen = watched(find(f"atari/{name}"), script, lambda pixels: find_on_screen(pixels, colour, top=top, bottom=bottom))
    there = counts["player", "left_side"]["there"], counts["player", "right_side"]["there"]
    boxes = [box for box in seen[stay:] if box is not None and box.right - box.left < 10]
    assert len(boxes) >= 2 * go
    # The middle of the console's picture is column 80, a little left of which the middle of the way is.
    is_left, is_right = (sum(condition(box.x) for box in boxes) for condition in (lambda x: x < 76, lambda x: x > 84))
    assert is_left > 0
    assert is_left <= there[0] <= len(script) - is_right
    assert is_right <= there[1]
    assert counts["player", "left_side"]["steps"] == counts["player", "right_side"]["steps"] == len(script)


def test_a_statistic_of_another_game_is_refused():
    task = find("atari/breakout")
    for name in ("aliens_hit", "accuracy", "left_side"):
        with pytest.raises(StatisticError, match="ale:breakout"):
            StatisticSpec(name).build().begin(task.setting, {"lives": 5})


def test_parameters_that_cannot_be_are_refused():
    for name, parameters, problem in [
        ("row_by_row", {"count": 1}, "count must be true or false, got 1"),
        ("left_side", {"band": -1}, "from 0 to 80, got -1"),
        ("active_time", {"action_timeout_s": 0}, "action_timeout_s must be a number above 0, got 0"),
        ("active_time", {"reward_timeout_s": -1}, "reward_timeout_s must be a number >= 0, got -1"),
        ("path_length", {"max_step_m": "far"}, "max_step_m must be a number above 0, got 'far'"),
    ]:
        with pytest.raises(StatisticError, match=f"statistic '{name}': .*{problem}"):
            StatisticSpec(name, parameters).build()

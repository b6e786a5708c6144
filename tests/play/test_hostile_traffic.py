"""Traffic that means harm finds no error of ours, and leaves nothing in the log."""

import asyncio

import pytest
from hostile_traffic import NUM_CASES, attacks, check_health
from play_server import RunningServer

AT_ONCE = 4
"""Cases that are under way beside one another."""


@pytest.mark.fuzz
def test_hostile_traffic_finds_no_error_of_ours(server: RunningServer) -> None:
    async def scenario() -> dict[str, bytes]:
        cases, answers = iter(await attacks(server)), {}

        async def attacker() -> None:
            for name, attack in cases:
                answers[name] = await attack()

        await asyncio.gather(*(attacker() for _ in range(AT_ONCE)))
        return answers

    answers = asyncio.run(scenario())
    assert len(answers) == NUM_CASES
    check_health(server, answers)

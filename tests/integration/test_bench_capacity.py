"""`bench capacity` against a real server, on a small scale."""

from __future__ import annotations

import pytest

from understudy_bench.commands.capacity import CapacityOptions, run_capacity
from understudy_bench.contenders import MOST_PERFORMERS, Search, casting
from understudy_bench.crowd import Trial
from understudy_bench.sidebyside import Transport


@pytest.mark.parametrize(("transport", "most"), [("zmq", 3), ("vmc", 1)])
def test_server_and_echo_are_searched_in_one_run(transport: Transport, most: int) -> None:
    options = CapacityOptions(most=most, seconds=0.3, tries=2, transports=(transport,))
    results = run_capacity(options).results
    (found,) = results["transports"].values()
    trials = found["trials"]
    assert {trial["what"] for trial in trials} == {"server", "echo"}
    for trial in trials:
        assert 1 <= trial["characters"] <= most
        assert 0 <= trial["missed"] <= trial["frames"] == 36 * trial["characters"]
        assert trial["p50_us"] > 0.0
    assert 0 <= found["characters"]["server"] <= most
    assert found["cpu_us_per_frame"]["server"] > 0.0
    assert all(cost["us"] > 0.0 for cost in results["growth"]["over_joints"])
    if transport == "zmq" and found["characters"]["server"]:
        assert {"decode", "solve", "send"} <= found["stages_us"].keys()


class Pretender:
    """Holds so many characters, at the third try: the first two are spoilt by a hiccup."""

    def __init__(self, holds: int) -> None:
        self.cpu_s = 0.0
        self.profiles: dict[int, dict[str, float]] = {}
        self.asked: list[int] = []
        self._holds = holds

    def attempt(self, characters: int, tries: int) -> Trial:
        self.asked.append(characters)
        good = tries >= 3 and characters <= self._holds
        return Trial("server", characters, 1000, 0 if good else 3, 1.0, 2.0, 40.0, 1.0, 2.0)

    def close(self) -> None: ...


@pytest.mark.parametrize("holds", [1, 5, 8, 9, 31, 100])
def test_the_search_finds_what_is_held_in_the_best_of_several_tries(holds: int) -> None:
    pretender = Pretender(holds)
    search = Search(pretender, most=128, tries=3)
    while not search.done:
        search.step()
    assert holds - max(1, holds // 16) < search.held <= holds
    assert len(set(pretender.asked)) == len(pretender.asked)


def test_nothing_is_held_if_every_try_misses_a_deadline() -> None:
    search = Search(Pretender(128), most=128, tries=2)
    while not search.done:
        search.step()
    assert search.held == 0


def test_every_performer_drives_one_character_while_there_are_enough_of_them() -> None:
    assert [len(names) for names in casting(5)] == [1] * 5
    more = casting(MOST_PERFORMERS + 3)
    assert len(more) == MOST_PERFORMERS
    assert sorted(name for names in more for name in names) == sorted(
        f"character-{i}" for i in range(MOST_PERFORMERS + 3)
    )

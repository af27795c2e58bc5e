"""What is taken back, and in which order."""

from __future__ import annotations

from typing import Any

from understudy.monitor.changes import Changes


def test_nothing_was_changed_at_first() -> None:
    changes = Changes()
    assert not changes
    assert changes.take_last() == []
    assert changes.take_all() == []


def test_the_last_change_is_taken_back_first() -> None:
    changes = Changes()
    changes.add("giant", "k1", {"params": {"k1": 1.0}}, 0.0)
    changes.add("hero", "stride", {"stride": "scaled"}, 5.0)
    assert [c.character for c in changes.take_last()] == ["hero"]
    assert [c.before for c in changes.take_last()] == [{"params": {"k1": 1.0}}]
    assert not changes


def test_a_slider_that_is_dragged_is_one_change() -> None:
    changes = Changes()
    for k in range(20):
        changes.add("giant", "k1", {"params": {"k1": 1.0 - 0.01 * k}}, 0.5 * k)
    assert [c.before for c in changes.take_last()] == [{"params": {"k1": 1.0}}]
    assert not changes


def test_the_same_slider_later_is_another_change() -> None:
    changes = Changes()
    changes.add("giant", "k1", {"params": {"k1": 1.0}}, 0.0)
    changes.add("giant", "k1", {"params": {"k1": 0.5}}, 10.0)
    assert [c.before for c in changes.take_last()] == [{"params": {"k1": 0.5}}]
    assert changes


def all_back(*befores: dict[str, Any]) -> dict[str, Any]:
    changes = Changes()
    for k, before in enumerate(befores):
        changes.add("giant", str(k), before, float(k))
    (together,) = changes.take_all()
    assert not changes
    return dict(together.before)


def test_everything_goes_back_to_the_oldest_value() -> None:
    assert all_back(
        {"params": {"k1": 1.0}},
        {"smoothing": 0.0},
        {"params": {"k1": 0.5}},
        {"params": {"k2": 0.75}},
        {"smoothing": 0.2},
    ) == {"params": {"k1": 1.0, "k2": 0.75}, "smoothing": 0.0}


def test_a_solver_that_is_left_takes_its_parameters_with_it() -> None:
    assert all_back(
        {"params": {"k1": 1.0}},
        {"solver": "clik", "params": {"k1": 0.5, "k2": 1.0}},
        {"params": {"passes": 2}},
    ) == {"solver": "clik", "params": {"k1": 1.0, "k2": 1.0}}
    assert all_back({"solver": "copy", "params": {}}, {"params": {"passes": 2}}) == {
        "solver": "copy",
        "params": {},
    }


def test_every_character_is_brought_back_by_one_request() -> None:
    changes = Changes()
    changes.add("giant", "k1", {"params": {"k1": 1.0}}, 0.0)
    changes.add("hero", "k1", {"params": {"k1": 0.25}}, 1.0)
    found = {c.character: c.before for c in changes.take_all()}
    assert found == {"giant": {"params": {"k1": 1.0}}, "hero": {"params": {"k1": 0.25}}}


def test_what_could_not_be_taken_back_is_kept() -> None:
    changes = Changes()
    changes.add("giant", "k1", {"params": {"k1": 1.0}}, 0.0)
    (change,) = changes.take_last()
    changes.put_back(change)
    assert changes.take_last() == [change]

"""Values changed in a TOML text: what the user wrote around them stays."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.config.toml_edit import UneditableError, edit_tables

TEXT = """\
# above
title = "a show"  # not ours

[[part]]          # the first
name = "a # b"    # a text with a hash
speed = 2         # slow

# between
[[part]]
  name = "b"
  [part.limits]
  low = 1.5 # at least
  high = 2
  # end of the limits

[other]
x = 1
"""


def edited(text: str, *changes: dict[str, Any]) -> str:
    """The text with these keys changed in its tables [[part]], one dictionary for each."""
    tables = tomllib.loads(text)["part"]
    after = [{**table, **change} for table, change in zip(tables, changes, strict=True)]
    return edit_tables(text, "part", after)


def test_nothing_changes_where_nothing_differs() -> None:
    assert edited(TEXT, {}, {}) == TEXT


def test_a_value_is_replaced_and_its_comment_stays() -> None:
    assert edited(TEXT, {"speed": 3.5, "name": "c"}, {}) == TEXT.replace(
        'name = "a # b"    #', 'name = "c"    #'
    ).replace("speed = 2         #", "speed = 3.5         #")


def test_a_new_key_goes_behind_the_last_of_its_table() -> None:
    assert edited(TEXT, {"loud": True}, {"loud": False}) == TEXT.replace(
        "# slow\n", "# slow\nloud = true\n"
    ).replace('  name = "b"\n', '  name = "b"\n  loud = false\n')


def test_a_sub_table_s_values_come_and_go() -> None:
    assert edited(TEXT, {}, {"limits": {"low": 1.0, "mid": 1.25}}) == TEXT.replace(
        "low = 1.5 #", "low = 1.0 #"
    ).replace("  high = 2\n", "  mid = 1.25\n")


def test_a_sub_table_is_added_before_what_follows() -> None:
    assert edited(TEXT, {"limits": {"low": 0}}, {}) == TEXT.replace(
        "# slow\n", "# slow\n\n[part.limits]\nlow = 0\n"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[[part]]\nlimits = { low = 1 } # x\n", "[[part]]\nlimits = { low = 2, high = 3 } # x\n"),
        ("[[part]]\nlimits.low = 1 # x", "[[part]]\nlimits.low = 2 # x\nlimits.high = 3"),
    ],
)
def test_inline_and_dotted_tables_keep_their_form(text: str, wanted: str) -> None:
    assert edited(text, {"limits": {"low": 2, "high": 3}}) == wanted


def test_line_ends_of_windows_stay() -> None:
    text = TEXT.replace("\n", "\r\n")
    assert edited(text, {"loud": True}, {}) == text.replace(
        "# slow\r\n", "# slow\r\nloud = true\r\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        'part = [{ name = "a" }]\n',
        '[["part"]]\nname = "a"\n',
        '[[part]]\nname = """\n[[part]]\n"""\n',
    ],
)
def test_a_text_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(UneditableError):
        edited(text, {"name": "b"})


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["name", "speed", "loud", "a-b", "limits"]),
            st.one_of(
                st.booleans(),
                st.integers(-(2**62), 2**62),
                st.floats(allow_nan=False, allow_infinity=False),
                st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])),
            ),
        ),
        min_size=2,
        max_size=2,
    )
)
def test_the_result_says_what_was_wanted(changes: list[dict[str, Any]]) -> None:
    tables = tomllib.loads(TEXT)["part"]
    values = [{k: v for k, v in change.items() if k != "limits"} for change in changes]
    after = [{**table, **change} for table, change in zip(tables, values, strict=True)]
    assert tomllib.loads(edit_tables(TEXT, "part", after))["part"] == after

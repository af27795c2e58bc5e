"""What a joint's name says about its part of the body, over all the usual naming families."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

Part = Literal[
    "hips", "trunk", "neck", "head",
    "clavicle", "upper_arm", "lower_arm", "hand",
    "upper_leg", "lower_leg", "foot", "toes",
    "finger", "palm", "never",
    # What these mean is decided by the rest of the chain.
    "shoulder?", "arm?", "leg?", "hip?",
]  # fmt: skip

AMBIGUOUS: Final = ("shoulder?", "arm?", "leg?", "hip?")

_WORDS: Final[dict[Part, str]] = {
    "hips": "hips pelvis センター 腰",
    "trunk": "spine chest torso abdomen tummy waist back lowerback upperback thorax body"
    " lowerabdomen upperabdomen abdomenlower abdomenupper 上半身",
    "neck": "neck lowerneck upperneck necklower neckupper 首",
    "head": "head skull 頭",
    "clavicle": "collar clavicle scapula collarbone",
    "shoulder?": "shoulder shldr 肩",
    "arm?": "arm",
    "upper_arm": "upperarm uparm humerus bicep 腕",
    "lower_arm": "forearm lowerarm lowarm elbow radius ひじ",
    "hand": "hand wrist 手首",
    "hip?": "hip",
    "leg?": "leg",
    "upper_leg": "thigh upleg upperleg femur 足",
    "lower_leg": "shin calf knee lowerleg lowleg tibia ひざ",
    "foot": "foot ankle 足首",
    "toes": "toe toes toebase ball forefoot つま先",
    "palm": "palm inhand metacarpal metacarpals",
    "never": "ik ctrl control pole target twist roll end nub tip slot hair ear eye eyes brow jaw"
    " tail prop hipjoint buttock head_top headtop heel weapon skirt breast tongue teeth cape",
}
_PART_OF: Final[dict[str, Part]] = {
    word: part for part, words in _WORDS.items() for word in words.split()
}
_FINGER_OF: Final = {
    "thumb": "Thumb", "index": "Index", "pointer": "Index", "mid": "Middle", "middle": "Middle",
    "ring": "Ring", "pinky": "Little", "little": "Little",
}  # fmt: skip
_SIDE_OF: Final = {
    "left": "left", "l": "left", "lft": "left", "左": "left",
    "right": "right", "r": "right", "rgt": "right", "右": "right",
}  # fmt: skip
# "metacarpal" is the first bone of a thumb, but lies in the palm for the other fingers.
_SEGMENT_OF: Final = {
    "metacarpal": 1, "proximal": 2, "intermediate": 3, "distal": 4,
    "a": 1, "b": 2, "c": 3,
}  # fmt: skip
# Vertebrae, as one inertial suit names its trunk joints: the L is no side.
_VERTEBRA: Final = re.compile(r"[LT]\d{1,2}", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[左右]|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z左右]+")
# A token on most joints says nothing; a word we know is given up only if nearly all have it,
# because the fingers of one `hand` can be most of a skeleton.
_SHARED_BY: Final = 0.6
_KNOWN_SHARED_BY: Final = 0.9


@dataclass(frozen=True, slots=True)
class NameHint:
    """What one name says: the part, its `side`, and for a finger which one and how far out.

    `part` is None where the name says nothing. `order` counts bones outwards along one finger;
    None for a finger's name without number or word.
    """

    part: Part | None = None
    side: str = ""
    finger: str = ""
    order: int | None = None


def read_names(names: Sequence[str]) -> list[NameHint]:
    """What each of a skeleton's joint names says.

    The names are read together, because a token that most of them share (a namespace, `joint`)
    says nothing.
    """
    split = [_tokens(name) for name in names]
    counts = Counter(token for tokens in split for token in set(tokens))
    shared = {
        token
        for token, count in counts.items()
        if count > len(names) * (_KNOWN_SHARED_BY if _means_something(token) else _SHARED_BY)
        and len(names) > 3
    }
    return [
        _read(name, [token for token in tokens if token not in shared])
        for name, tokens in zip(names, split, strict=True)
    ]


def _means_something(token: str) -> bool:
    return token in _PART_OF or token in _FINGER_OF or token.isdigit()


def _tokens(name: str) -> list[str]:
    bare = re.split(r"[:|]", name)[-1]
    found: list[str] = []
    for token in _TOKEN.findall(bare):
        found.extend(_unglued(token.lower()))
    return found


def _unglued(token: str) -> list[str]:
    """`lhand` is `l hand`; a token that means something as it stands is left alone."""
    if token in _PART_OF or token in _FINGER_OF:
        return [token]
    for prefix in ("left", "right", "l", "r"):
        rest = token.removeprefix(prefix)
        if rest != token and (rest in _PART_OF or rest in _FINGER_OF):
            return [prefix, rest]
    return [token]


def _read(name: str, tokens: list[str]) -> NameHint:
    if _VERTEBRA.fullmatch(name):
        return NameHint("trunk")
    side = next((_SIDE_OF[token] for token in tokens if token in _SIDE_OF), "")
    words = [token for token in tokens if token not in _SIDE_OF]
    parts = _parts(words)
    if "never" in parts:
        return NameHint("never", side)
    finger = next((_FINGER_OF[word] for word in words if word in _FINGER_OF), "")
    if finger:
        if "inhand" in "".join(words) or ("metacarpal" in words and finger != "Thumb"):
            return NameHint("palm", side)
        return NameHint("finger", side, finger, _order(words))
    numbered = _numbered_finger(words)
    if numbered is not None:
        return NameHint("finger", side, *numbered)
    part = next(iter(parts), None)
    if part == "hip?" and not side:
        part = "hips"
    return NameHint(part, side)


def _parts(words: list[str]) -> list[Part]:
    """The parts that runs of neighbouring words name, the longest run first."""
    runs: list[tuple[int, Part]] = []
    for first in range(len(words)):
        for last in range(first + 1, len(words) + 1):
            run = "".join(words[first:last])
            if run in _PART_OF:
                runs.append((len(run), _PART_OF[run]))
    return [part for _, part in sorted(runs, key=lambda run: -run[0])]


def _order(words: list[str]) -> int | None:
    for word in reversed(words):
        if word.isdigit():
            return int(word)
        if word in _SEGMENT_OF:
            return _SEGMENT_OF[word]
    return None


def _numbered_finger(words: list[str]) -> tuple[str, int] | None:
    """`Finger21`: the second finger from the thumb's 0, its second bone; `Finger2`: its first."""
    for word, number in pairwise(words):
        if word == "finger" and number.isdigit() and len(number) <= 2 and number[0] in "01234":
            finger = ("Thumb", "Index", "Middle", "Ring", "Little")[int(number[0])]
            return finger, int(number[1:] or "0") + 1
    return None

from __future__ import annotations

import numpy as np

from understudy_bench.machine import CpuUse, Load, load_since
from understudy_bench.noise import Noise

PROMPT = np.full(1000, 60_000, np.int64)


def test_a_quiet_machine_is_called_quiet() -> None:
    noise = Noise.measure(PROMPT, Load(busy=0.2, steal=0.0), own_share=0.18)
    assert not noise.noisy
    assert noise.sentence() == "the machine was quiet"


def test_each_kind_of_noise_is_named() -> None:
    late = PROMPT.copy()
    late[:50] = 3_000_000
    cases = {
        "stolen": Noise.measure(PROMPT, Load(busy=0.2, steal=0.05), own_share=0.2),
        "idle timer": Noise.measure(late, Load(busy=0.2, steal=0.0), own_share=0.2),
        "other processes": Noise.measure(PROMPT, Load(busy=0.9, steal=0.0), own_share=0.2),
    }
    for words, noise in cases.items():
        assert len(noise.reasons) == 1
        assert words in noise.sentence()


def test_load_is_a_fraction_of_all_cores() -> None:
    now = CpuUse.now()
    before = CpuUse(now.total_s - 100.0, now.idle_s - 75.0, now.stolen_s - 5.0)
    load = load_since(before)
    assert 0.2 < load.busy < 0.3
    assert 0.04 < load.steal < 0.06

"""A thousand results as a busy tester has them: many stacks, real suites, texts of their own."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache

from bench_loop.engine.packs import load_pack
from bench_loop.result.records import Gpu, RunResult, Trial
from tests.look import samples

MODELS = ("qwen3", "gemma3", "llama3.1", "mistral-small", "gpt-oss", "phi-4", "granite3", "olmo2")
SIZES = ("4b", "8b", "14b", "27b")
QUANTIZATIONS = ("Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0")
HARNESSES = ("raw", "opencode", "aider", "goose")
CARDS = (("RTX 4090", 24.0), ("RTX 3060", 12.0), ("RX 7900 XTX", 24.0), ("RTX 5090", 32.0))
SUITES = (
    *("coding", "dataextract", "instructfollow", "loop_code_fix", "loop_schema"),
    *("reasonmath", "toolcall"),
)
TASKS_EACH = 5
BASES = 40
OUTCOMES = ("pass", "fail", "partial", "truncated", "harness_error")


def thousand(count: int = 1000, seed: int = 3) -> Iterator[RunResult]:
    """`count` runs of the tasks of `quick`, each with outputs of its own of about 600 characters.

    Scores come from the real formulas, of `BASES` different sets of outcomes.
    """
    dice = random.Random(seed)
    bases = [_base(dice, number) for number in range(BASES)]
    for number in range(count):
        base = bases[number % BASES]
        card, memory = dice.choice(CARDS)
        moment = base.finished_at + timedelta(minutes=7 * number)
        yield base.model_copy(
            update={
                "run_id": f"20261129T{number // 3600:02}{number // 60 % 60:02}{number % 60:02}Z-"
                + "".join(dice.choices("abcdefghijklmnopqrstuvwxyz234567", k=10)),
                "started_at": moment - timedelta(minutes=9),
                "finished_at": moment,
                "subject": samples.subject(
                    model_id=f"{dice.choice(MODELS)}:{dice.choice(SIZES)}",
                    quantization=dice.choice(QUANTIZATIONS),
                    harness=dice.choice(HARNESSES),
                ),
                "machine": samples.machine(
                    device_class=card.lower().replace(" ", "-"),
                    gpus=(Gpu(model=card, vendor="NVIDIA", memory_gb=memory),),
                    gpu_memory_gb=memory,
                ),
                "trials": tuple(_retold(dice, trial) for trial in base.trials),
            }
        )


def _base(dice: random.Random, number: int) -> RunResult:
    strength = dice.random()
    weights = (0.1 + strength, 0.6 * (1 - strength), 0.1, 0.1, 0.02)
    trials = [
        samples.quality_trial(
            suite, place, dice.choices(OUTCOMES, weights)[0], latency_s=dice.uniform(1, 30)
        )
        for suite in SUITES
        for place in range(TASKS_EACH)
    ]
    speed = samples.speed_trials(dice.uniform(8, 190), dice.uniform(0.1, 3))
    return samples.result(trials=trials, speed=speed, number=number % 60)


@cache
def _words() -> Sequence[str]:
    """Words as models say them: those of the tasks themselves."""
    texts = (str(task.messages) for name in SUITES for task in load_pack(name).tasks)
    return tuple(sorted({word for text in texts for word in text.split() if len(word) < 20}))


def _retold(dice: random.Random, trial: Trial) -> Trial:
    """The trial with an answer of its own: half of its words are those of every run."""
    if trial.outcome is None:
        return trial
    common = random.Random(trial.task_id)
    words = [
        common.choice(_words()) if dice.random() < 0.5 else dice.choice(_words())
        for _ in range(round(dice.lognormvariate(4.4, 0.6)))
    ]
    output = " ".join(words)
    return trial.model_copy(update={"output": output, "answer": " ".join(words[-3:])})

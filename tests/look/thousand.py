"""A thousand results as a busy tester has them: many stacks, real suites, texts of their own."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path

from bench_loop.result import store
from bench_loop.result.records import Gpu, RunResult, Trial
from tests.look import samples

MODELS = ("qwen3", "gemma3", "llama3.1", "mistral-small", "gpt-oss", "phi-4", "granite3", "olmo2")
SIZES = ("4b", "8b", "14b", "27b")
QUANTIZATIONS = ("Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0")
HARNESSES = ("raw", "opencode", "aider", "goose")
CARDS = (("RTX 4090", 24.0), ("RTX 3060", 12.0), ("RX 7900 XTX", 24.0), ("RTX 5090", 32.0))
REFERENCES = Path(__file__).parents[2] / "docs" / "reference-runs"
REAL = ("qwen2.5-coder-1.5b-quick", "qwen2.5-coder-0.5b-core", "smollm2-135m-core")
BASES = 40
OUTCOMES = ("pass", "fail", "partial", "truncated", "harness_error")


def thousand(count: int = 1000, seed: int = 3) -> Iterator[RunResult]:
    """`count` runs of the tasks of `quick`, each with outputs of its own.

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
            suite,
            place,
            dice.choices(OUTCOMES, weights)[0],
            latency_s=dice.uniform(1, 30),
            task_id=task_id,
        )
        for place, (suite, task_id) in enumerate(_real_outputs())
    ]
    speed = samples.speed_trials(dice.uniform(8, 190), dice.uniform(0.1, 3))
    return samples.result(trials=trials, speed=speed, number=number % 60)


@cache
def _real_outputs() -> dict[tuple[str, str], list[str]]:
    """What real models answered to each task of `quick`, from the reference runs."""
    quick, *others = (store.load(REFERENCES / f"{name}.json") for name in REAL)
    said = {(t.suite, t.task_id): [t.output] for t in quick.trials if t.outcome and t.output}
    for trial in (trial for other in others for trial in other.trials):
        if trial.output and (trial.suite, trial.task_id) in said:
            said[trial.suite, trial.task_id].append(trial.output)
    return said


@cache
def _words() -> Sequence[str]:
    texts = (text for said in _real_outputs().values() for text in said)
    return tuple(sorted({word for text in texts for word in text.split() if len(word) < 20}))


def _retold(dice: random.Random, trial: Trial) -> Trial:
    """The trial with a real answer to its task, in which every fifth word is another one."""
    if trial.outcome is None:
        return trial
    words = dice.choice(_real_outputs()[trial.suite, trial.task_id]).split(" ")
    output = " ".join(dice.choice(_words()) if dice.random() < 0.2 else word for word in words)
    return trial.model_copy(update={"output": output, "answer": " ".join(output.split()[-3:])})

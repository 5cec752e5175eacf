"""Whether a run's speed is one that its machine can have: names of the record to ceilings."""

from __future__ import annotations

from bench_loop.machine.devices import Device, find_device
from bench_loop.names.quantization import bits_of
from bench_loop.result.records import Machine, RunHeader, RunResult, Subject
from bench_loop.scoring.plausibility import (
    Ceilings,
    Implausible,
    fits_cache,
    implausible,
    parallel_generation_ceiling,
    prompt_ceiling,
)

NO_CEILINGS = Ceilings(None, None)


def implausible_speeds(result: RunResult) -> tuple[Implausible, ...]:
    """The requests of a run that were faster than its machine allows; none where that is unknown.

    Such a run is for a person to look at; it is never refused.
    """
    return tuple(implausible(result.trials, ceilings_of(result)))


def ceilings_of(header: RunHeader) -> Ceilings:
    """The ceilings of a run, in doubt the higher ones.

    The GPUs count as read at once, since a record does not tell how a model was split over them.
    None without a GPU, with one that the table does not know, and where the size is unknown.
    """
    devices = _devices(header.machine)
    active_b = header.subject.active_parameters_b or header.subject.parameters_b
    if not devices or active_b is None:
        return NO_CEILINGS
    compute = [device.dense_tflops for device in devices if device.dense_tflops]
    is_whole = header.subject.offloaded_share in (None, 1.0)
    return Ceilings(
        generation_tps=_generation_ceiling(header.subject, active_b, devices),
        prompt_tps=prompt_ceiling(active_b, compute)
        if is_whole and len(compute) == len(devices)
        else None,
    )


def _generation_ceiling(
    subject: Subject, active_b: float, devices: tuple[Device, ...]
) -> float | None:
    """Of a model that lies on the GPUs in part, that part alone: the rest is taken as free.

    None under speculative decoding, of which servers do not tell how many drafts were accepted.
    """
    bits = subject.bits_per_weight or bits_of(subject.quantization)
    speeds = [device.bandwidth_gbs for device in devices if device.bandwidth_gbs]
    share = 1.0 if subject.offloaded_share is None else subject.offloaded_share
    if bits is None or len(speeds) < len(devices) or subject.speculative or not share:
        return None
    total_b = subject.parameters_b or active_b
    if fits_cache(total_b * 1e9 * bits / 8, len(devices)):
        return None
    return parallel_generation_ceiling(share * active_b * 1e9 * bits / 8, speeds)


def _devices(machine: Machine) -> tuple[Device, ...]:
    """The GPUs that took part, by the table; an unknown one has no figures there."""
    return tuple(
        find_device(f"{gpu.vendor} {gpu.model}" if gpu.vendor else gpu.model)
        for gpu in machine.gpus
    )

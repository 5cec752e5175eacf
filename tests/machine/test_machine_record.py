"""The machine of a result: device classes, and what is credited to whom."""

from __future__ import annotations

import pytest

from bench_loop.errors import UsageError
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.record import machine_record
from bench_loop.result.records import Gpu

RTX_4090 = Gpu(model="RTX 4090", vendor="NVIDIA", memory_gb=23.99)
RTX_4080 = Gpu(model="RTX 4080", vendor="NVIDIA", memory_gb=15.99)
WORKSTATION = MachineFacts(
    cpu_model="AMD Ryzen 9 7950X",
    physical_cores=16,
    logical_cores=32,
    gpus=(RTX_4090,),
    system_memory_gb=62.5,
    unified_memory=False,
    os="Debian GNU/Linux 12 (bookworm)",
    platform="Linux 6.1 x86_64",
    backend="cuda",
)


def facts(*gpus: Gpu, memory: float | None = 62.5, cpu: str | None = "Intel Xeon") -> MachineFacts:
    return MachineFacts(cpu_model=cpu, physical_cores=2, gpus=gpus, system_memory_gb=memory)


@pytest.mark.parametrize(
    ("machine", "device_class"),
    [
        (facts(RTX_4090), "rtx-4090-24gb"),
        (facts(RTX_4090, RTX_4090), "2x-rtx-4090-24gb"),
        (facts(RTX_4090, RTX_4080), "rtx-4080-16gb+rtx-4090-24gb"),
        (facts(Gpu(model="M3 Pro", vendor="Apple"), memory=36.0), "m3-pro-36gb"),
        (facts(Gpu(model="Radeon 780M", vendor="AMD"), memory=30.6), "radeon-780m-32gb"),
        (facts(Gpu(model="RTX 6090", vendor="NVIDIA", memory_gb=47.9)), "rtx-6090-48gb"),
        (facts(Gpu(model="RTX 6090", vendor="NVIDIA")), "rtx-6090"),
        (facts(memory=23.54), "cpu-xeon-2c-24gb"),
        (facts(cpu="AMD EPYC 9654", memory=377.4), "cpu-epyc-9654-2c-384gb"),
        (facts(cpu="Cortex-A76", memory=7.9), "cpu-cortex-a76-2c-8gb"),
        (facts(cpu=None, memory=None), "cpu-unknown-2c"),
        (MachineFacts(), "cpu-unknown"),
    ],
)  # fmt: skip
def test_the_device_class_of_a_machine(machine: MachineFacts, device_class: str) -> None:
    assert machine_record(machine, is_local=True).device_class == device_class


def test_the_order_of_the_gpus_does_not_change_the_class() -> None:
    one = machine_record(facts(RTX_4090, RTX_4080), is_local=True)
    other = machine_record(facts(RTX_4080, RTX_4090), is_local=True)
    assert one.device_class == other.device_class


def test_what_was_detected_is_recorded() -> None:
    machine = machine_record(WORKSTATION, is_local=True)
    assert machine.cpu_model == "AMD Ryzen 9 7950X"
    assert machine.gpus == (RTX_4090,)
    assert machine.gpu_memory_gb == 23.99
    assert machine.backend == "cuda"
    assert machine.declared is None


def test_memory_of_several_gpus_is_summed() -> None:
    machine = machine_record(facts(RTX_4090, RTX_4080), is_local=True)
    assert machine.gpu_memory_gb == 39.98


def test_the_sum_is_unknown_when_one_part_is() -> None:
    machine = machine_record(facts(RTX_4090, Gpu(model="RTX 4080")), is_local=True)
    assert machine.gpu_memory_gb is None


def test_a_remote_endpoint_is_not_credited_to_this_machine() -> None:
    machine = machine_record(WORKSTATION, is_local=False)
    assert machine.device_class == "remote"
    credited = (machine.cpu_model, machine.gpu_memory_gb, machine.system_memory_gb, machine.os)
    assert credited == (None, None, None, None)
    assert machine.gpus == ()
    assert machine.backend is None


def test_a_declared_gpu_gives_a_remote_endpoint_its_class() -> None:
    machine = machine_record(
        WORKSTATION, is_local=False, declared_gpu="NVIDIA H200", declared_gpu_memory_gb=141
    )
    assert machine.device_class == "h200-141gb"
    assert machine.gpus == ()
    assert machine.declared is not None
    assert machine.declared.gpu == "NVIDIA H200"


@pytest.mark.parametrize(
    ("declared", "memory_gb", "device_class"),
    [
        ("2x RTX 4090", 24.0, "2x-rtx-4090-24gb"),
        ("RTX 4090 x2", 24.0, "2x-rtx-4090-24gb"),
        ("4090", None, "rtx-4090-24gb"),
        ("RTX 5060 Ti 16GB", None, "rtx-5060-ti-16gb"),
        ("RX 7900 XTX", None, "rx-7900-xtx-24gb"),
        ("Apple M3 Max", 64.0, "m3-max-64gb"),
        ("something new", None, "something-new"),
        ("  ", None, "remote"),
    ],
)
def test_a_declaration_is_read_like_any_other_name(
    declared: str, memory_gb: float | None, device_class: str
) -> None:
    machine = machine_record(
        WORKSTATION, is_local=False, declared_gpu=declared, declared_gpu_memory_gb=memory_gb
    )
    assert machine.device_class == device_class


@pytest.mark.parametrize("memory_gb", [0.0, -24.0, float("inf"), float("nan"), 1e6])
def test_a_declared_size_that_no_gpu_has_is_refused(memory_gb: float) -> None:
    with pytest.raises(UsageError, match="no size"):
        machine_record(
            WORKSTATION, is_local=False, declared_gpu="H200", declared_gpu_memory_gb=memory_gb
        )


def test_a_declaration_does_not_override_a_detected_gpu() -> None:
    machine = machine_record(WORKSTATION, is_local=True, declared_gpu="NVIDIA H200")
    assert machine.device_class == "rtx-4090-24gb"
    assert machine.declared is not None


def test_a_declaration_speaks_for_a_gpu_that_was_not_detected() -> None:
    machine = machine_record(facts(), is_local=True, declared_gpu="RTX 4090")
    assert machine.device_class == "rtx-4090-24gb"
    assert machine.gpus == ()


def test_a_run_on_the_processor_is_not_credited_to_the_gpu_beside_it() -> None:
    machine = machine_record(WORKSTATION, is_local=True, backend="cpu")
    assert machine.device_class == "cpu-ryzen-9-7950x-16c-64gb"
    assert machine.gpus == ()
    assert machine.unified_memory is None


def test_the_label_is_the_users_and_is_marked_declared() -> None:
    machine = machine_record(WORKSTATION, is_local=True, label="studio")
    assert machine.machine_label == "studio"
    assert machine.declared is not None
    assert machine.declared.label == "studio"


def test_the_id_stays_the_same_on_one_installation() -> None:
    first = machine_record(WORKSTATION, is_local=True).machine_id
    assert machine_record(WORKSTATION, is_local=False).machine_id == first

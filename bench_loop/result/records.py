"""The run result, version 1: the public contract, from which the JSON Schema is exported.

A `RunResult` is a `RunHeader` (what lists need) and the trial records. Unknown is null, never zero.
Intervals are `[low, high]` at 95 %. What a run of BenchLoop always knows is null only in a result
that was imported from another tool (`KNOWN_TO_BENCH_LOOP`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, Field, field_validator, model_validator

from bench_loop.contracts.chat import (
    ArrivalGaps,
    Basis,
    CallRecord,
    EngineTimings,
    FinishReason,
    Sampling,
    StreamFacts,
    TokenCounts,
)
from bench_loop.contracts.place import PlaceKind
from bench_loop.contracts.record import (
    Count,
    Many,
    Positive,
    Record,
    Score,
    Seconds,
    Seed,
    TaggedHash,
)
from bench_loop.contracts.sandbox import SandboxRecord
from bench_loop.contracts.task import Difficulty, VerifierType
from bench_loop.contracts.verifier import Limit, Outcome, VerifierRecord

SCHEMA_VERSION = 1

Text = Annotated[str, Field(max_length=1000)]
Watts = Annotated[float, Field(ge=0, le=1e9)]
Joules = Annotated[float, Field(ge=0, le=1e15)]
Rate = Annotated[float, Field(ge=0, le=1e9)]
Interval = tuple[Score, Score]
RunStatus = Literal["complete", "incomplete", "aborted"]
HarnessWay = Literal["question", "workspace", "given_tools"]
"""How a task is put to the program of a harness.

`question`: one question, its words judged. `workspace`: files in a folder, worked on with its own
tools. `given_tools`: with the tools that the task defines.
"""

WaitedFor = Literal["model", "harness", "tool"]
Profile = Literal["smoke", "quick", "core", "full", "harness", "custom"]
SpeedPlan = Literal["nine", "five", "headline", "minimum"]
ImportFormat = Literal["llama_bench", "lm_eval", "speed_jsonl"]

KNOWN_TO_BENCH_LOOP = (
    "total_runtime_s",
    "subject.harness_version",
    "machine.machine_id",
    "machine.is_local",
    "settings.trials",
    "settings.sampling",
    "settings.seed_rule",
    "settings.answer_budget_rule",
    "settings.context_window",
    "settings.wall_limit_rule",
    "settings.use_prompt_cache",
    "software",
    "speed.plan",
    "suites.pack_hash",
    "suites.task_count",
    "suites.pass_count",
    "suites.partial_count",
    "suites.fail_count",
    "suites.truncated_count",
    "suites.error_count",
)
"""Fields that only an imported result may lack."""
PowerSource = Literal["nvml", "rapl", "amdgpu", "amd_smi", "rocm_smi", "powermetrics"]
PowerScope = Literal["gpus", "cpu_packages", "soc"]


class ContextFacts(Record):
    """The three windows of a model, in tokens."""

    declared: Count | None = Field(None, description="What the model says it was trained for.")
    loaded: Count | None = Field(None, description="What the server had loaded, read back.")
    usable: Count | None = Field(None, description="What a marker probe showed; null: not probed.")
    not_usable_reason: Text | None = Field(
        None, description="Why a marker probe gave no figure; null: it did, or was not made."
    )


class Subject(Record):
    """What was measured: the model, how it was served, and the harness around it."""

    model_id: Text = Field(description="The provider's id of the model, as asked for.")
    model_family: Text | None = Field(None, description="Normalised family, like qwen.")
    parameters_b: Positive | None = Field(None, description="Total parameters in billions.")
    active_parameters_b: Positive | None = Field(
        None,
        description="Of a mixture of experts: billions used per token; null: dense or unknown.",
    )
    quantization: Text | None = Field(None, description="Quantization label, like Q4_K_M.")
    bits_per_weight: Positive | None = Field(None, description="File bits by parameters.")
    quant_publisher: Text | None = Field(None, description="Who published the quantized file.")
    file_name: Text | None = Field(None, description="Base name of the weights file.")
    weights_digest: TaggedHash | None = Field(None, description="SHA-256 of the weights file.")
    chat_template_hash: TaggedHash | None = Field(None, description="SHA-256 of the template.")
    thinking: bool | None = Field(None, description="Thinking on or off; null: no such switch.")
    kv_cache_type: Text | None = Field(None, description="Type of the KV cache, like f16.")
    speculative: Text | None = Field(None, description="Speculative decoding: method and draft.")
    offloaded_layers: Count | None = Field(
        None, description="Layers on the GPU, as asked for; more than the model has means all."
    )
    offloaded_share: float | None = Field(
        None, ge=0, le=1, description="Part of the loaded model that lies on the GPU."
    )
    launch_args: Many[Text] | None = Field(
        None, description="Settings of a server that BenchLoop started itself; no paths."
    )
    launch_untold: Text | None = Field(
        None, description="Which facts of the server's start are null, and why; null: none is."
    )
    provider: Text = Field(description="Provider that carried the requests.")
    provider_version: Text | None = Field(None, description="Engine and its version or build.")
    harness: Text = Field(description="Harness between task and model.")
    harness_version: Text | None = Field(
        description="Version of the harness; null: imported, and not stated."
    )
    harness_config_hash: TaggedHash | None = Field(
        None, description="Hash of the harness's configuration; null for raw, which has none."
    )
    context: ContextFacts | None = Field(None, description="Windows: declared, loaded, usable.")


class Gpu(Record):
    """One graphics processor."""

    model: Text = Field(description="Canonical name without the vendor, like RTX 4090.")
    vendor: Text | None = Field(None, description="NVIDIA, AMD, Intel, Apple, ...")
    memory_gb: Positive | None = Field(None, description="Its memory in GiB.")


class DeclaredMachine(Record):
    """What the user said of the machine, kept apart from what was detected."""

    label: Text | None = None
    gpu: Text | None = None
    gpu_memory_gb: Positive | None = None


class Machine(Record):
    """The computer that the model ran on, as far as it is known."""

    machine_id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")] | None = Field(
        description="Random per installation; never a MAC address or a host name. Null: imported."
    )
    machine_label: Text | None = Field(None, description="A name chosen by the user.")
    device_class: Text = Field(description="Key under which machines are compared.")
    cpu_model: Text | None = Field(None, description="Processor name.")
    gpus: Many[Gpu] = Field((), max_length=64, description="Every GPU, one by one.")
    gpu_memory_gb: Positive | None = Field(None, description="Memory of all GPUs in GiB.")
    unified_memory: bool | None = Field(None, description="CPU and GPU share one memory.")
    system_memory_gb: Positive | None = Field(None, description="System memory in GiB.")
    os: Text | None = Field(None, description="Operating system and version.")
    backend: Text | None = Field(None, description="What computed: cuda, rocm, metal, vulkan, cpu.")
    is_local: bool | None = Field(
        description="The model server ran on this very machine. Null: imported."
    )
    listener: Text | None = Field(
        None,
        description="Program that listens at the server's port here: a tunnel's means that the"
        " server is elsewhere; unknown: the system does not tell; null: not looked at.",
    )
    declared: DeclaredMachine | None = Field(None, description="What the user declared.")


class SuiteSettings(Record):
    """How a suite is run that has trials or sampling of its own (METHODOLOGY.md 4)."""

    suite: Text
    trials: Annotated[int, Field(ge=1, le=100)] = Field(description="Scored trials of each task.")
    sampling: Sampling = Field(description="Sent explicitly with every request of the suite.")


class HarnessSettings(Record):
    """How the program of a harness was run."""

    place: PlaceKind = Field(
        description="`bubblewrap`: in a sandbox with the model as its only network. `direct`: on "
        "this machine, by explicit choice."
    )
    options: dict[Text, Text] = Field({}, max_length=20, description="Of the adapter.")
    limit_rule: Text = Field(description="How a trial gets its limits of requests and time.")
    forced: Many[Text] = Field(
        (), max_length=10, description="Needs of the harness that were overridden."
    )


class Settings(Record):
    """The core settings: equal, or the runs are not comparable (METHODOLOGY.md 4).

    Null in an imported run where its source does not state them.
    """

    trials: Annotated[int, Field(ge=1, le=100)] | None = Field(
        description="Scored trials per quality task, but for suites in `by_suite`."
    )
    sampling: Sampling | None = Field(
        description="Sent explicitly with every request, but for suites in `by_suite`."
    )
    by_suite: Many[SuiteSettings] = Field(
        (), max_length=100, description="Suites that are run in a way of their own."
    )
    seed_rule: Text | None = Field(
        description="How a trial gets its seed: 1000 + number of the trial."
    )
    answer_budget_rule: Text | None = Field(description="How a task gets its answer budget.")
    thinking_budget: Count | None = Field(None, description="Tokens on top for thinking.")
    context_window: Count | None = Field(
        description="Window asked for, in tokens, the same all through."
    )
    wall_limit_rule: Text | None = Field(description="How a trial gets its wall limit.")
    speed_budget_s: Seconds | None = Field(None, description="Time allowed to the speed suite.")
    use_prompt_cache: bool | None = Field(
        description="Whether quality tasks may use the prompt cache."
    )
    flash_attention: bool | None = Field(None, description="Read from the server.")
    parallel_slots: Count | None = Field(None, description="Read from the server.")
    threads: Count | None = Field(None, description="CPU threads, where BenchLoop set them.")
    fresh_seed: Seed | None = Field(None, description="Seed of fresh instances; null: frozen ones.")
    harness: HarnessSettings | None = Field(None, description="Null for raw, which is no program.")

    def trials_of(self, suite: str) -> int | None:
        """Scored trials of each task of `suite`; None in an import that does not state them."""
        own = self._own(suite)
        return self.trials if own is None else own.trials

    def sampling_of(self, suite: str) -> Sampling | None:
        """Sampling of `suite`; None in an import that does not state it."""
        own = self._own(suite)
        return self.sampling if own is None else own.sampling

    def _own(self, suite: str) -> SuiteSettings | None:
        return next((one for one in self.by_suite if one.suite == suite), None)


class Determinism(Record):
    """The same greedy request twice, once with the prompt read anew and once remembered."""

    prompts: int = Field(ge=1, le=100, description="Prompts that were sent twice.")
    identical: Count = Field(description="Prompts whose two answers are the same.")
    first_difference: Count | None = Field(
        None, description="Characters that the first differing answers share; null: none differ."
    )


class Software(Record):
    """Versions of what took part, apart from the engine (subject.provider_version)."""

    bench_loop: Text
    python: Text
    platform: Text = Field(description="Kernel and architecture.")
    packages: dict[str, Text] = Field(max_length=100, description="Libraries in the timed path.")


class Spread(Record):
    """Several measurements of one quantity."""

    peak: float = Field(ge=0, description="The largest value.")
    mean: float = Field(ge=0)
    median: float = Field(ge=0)
    stdev: float | None = Field(
        None, ge=0, description="Sample standard deviation; null for n = 1."
    )
    n: int = Field(ge=1)
    basis: Basis | None = Field(None, description="Basis of the token counts; null for times.")


class ShapeSpeed(Record):
    """Speed in one shape of the plan."""

    prompt_tokens: Count = Field(description="Prompt tokens aimed at.")
    output_tokens: Count = Field(description="Output tokens aimed at.")
    depth_tokens: Count | None = Field(
        None, description="Of an import: tokens already in the window when it was timed."
    )
    generation_tps: Spread | None = None
    prompt_tps: Spread | None = None
    ttft_s: Spread | None = None
    ttfa_s: Spread | None = None
    latency_s: Spread | None = None


class CurvePoint(Record):
    """Speed with so much of the window filled."""

    context_tokens: Count = Field(description="Window that prompt and answer nearly fill.")
    generation_tps: Spread | None = None
    prompt_tps: Spread | None = None
    ttft_s: Spread | None = None


class ConcurrencyPoint(Record):
    """Speed of several streams at once."""

    streams: int = Field(ge=1, le=1000, description="Requests sent at the same time.")
    failed: Count = Field(description="Streams that ended without a whole answer.")
    aggregate_tps: float | None = Field(
        None, ge=0, description="Tokens of all streams by the time from first sent to last token."
    )
    stream_tps: Spread | None = Field(None, description="Generation speed of each stream.")
    ttft_s: Spread | None = None
    queue_wait_s: Spread | None = Field(
        None, description="TTFT without the engine's prompt time; null: the engine has no clock."
    )


class Sustained(Record):
    """Generation speed under load without a pause: its end against its beginning."""

    duration_s: Seconds = Field(description="First request sent until the last token.")
    n: int = Field(ge=1, description="Whole requests in that time.")
    first_tps: float = Field(ge=0, description="Over the first tenth of the time.")
    last_tps: float = Field(ge=0, description="Over the last tenth of the time.")
    ratio: float = Field(ge=0, description="Last by first.")


class Speed(Record):
    """Speed of the run: the headline figures, then every shape (METHODOLOGY.md 3)."""

    plan: SpeedPlan | None = Field(
        description="Null: imported. Its headline is the tool's own first shape (`shapes`)."
    )
    generation_tps: Spread | None = Field(None, description="Tokens a second, headline shape.")
    prompt_tps: Spread | None = Field(None, description="Prompt tokens a second, headline shape.")
    ttft_s: Spread | None = Field(None, description="Seconds to the first token, headline shape.")
    ttfa_s: Spread | None = Field(None, description="Seconds to the first answer token.")
    load_s: Spread | None = Field(
        None, description="Seconds to load the model; null: not measured."
    )
    generation_half_width: float | None = Field(
        None, ge=0, description="Half-width of the 95 % interval by the mean; null below n = 2."
    )
    ttft_half_width: float | None = Field(None, ge=0, description="The same for TTFT.")
    findings: Many[Text] = Field(
        (), max_length=50, description="Codes of what limits trust: too_short_to_rate, warm, ..."
    )
    shapes: Many[ShapeSpeed] = ()
    token_gap_s: ArrivalGaps | None = Field(
        None, description="Pauses between arrivals: medians over the headline trials."
    )
    curve: Many[CurvePoint] | None = Field(
        None, max_length=10, description="Speed in a filled window; null: not run."
    )
    concurrency: Many[ConcurrencyPoint] | None = Field(
        None, max_length=20, description="Speed of several streams at once; null: not run."
    )
    sustained: Sustained | None = Field(None, description="Speed over minutes; null: not run.")


class Aggregates(Record):
    """The five aggregates, 0 to 100, each with its interval. Null: cannot be told, never 0."""

    overall_score: Score | None = None
    overall_score_interval: Interval | None = None
    quality_score: Score | None = None
    quality_score_interval: Interval | None = None
    speed_score: Score | None = None
    speed_score_interval: Interval | None = None
    reliability_score: Score | None = None
    reliability_score_interval: Interval | None = None
    value_score: Score | None = None
    value_score_interval: Interval | None = None
    answers_per_minute: float | None = Field(
        None, ge=0, description="Correct answers by minutes of model and tool time."
    )


class SuiteResult(Record):
    """One suite of the run. Counts are of scored trials, `task_count` of tasks.

    Null in an imported run where its source does not state them.
    """

    suite: Text
    version: Text = Field(description="Version of the pack.")
    pack_hash: TaggedHash | None = Field(
        description="Hash over prompts, settings, fixtures and keys."
    )
    dimension: Literal["quality", "speed"]
    score: Score | None = Field(None, description="100 x mean over tasks of passed / scored.")
    score_interval: Interval | None = None
    diagnostic_score: Score | None = Field(None, description="The same with partial credit.")
    score_of_finished: Score | None = Field(None, description="The same without truncated trials.")
    pass_cubed: Score | None = Field(None, description="100 x mean of C(c,3)/C(n,3); null below 3.")
    task_count: Count | None
    pass_count: Count | None
    partial_count: Count | None
    fail_count: Count | None
    truncated_count: Count | None
    error_count: Count | None = Field(description="harness_error and infrastructure_error.")
    median_latency_s: Seconds | None = None
    left_out_count: Count | None = Field(
        None,
        description="Of fresh instances: official tasks left out, as they belong to no family; "
        "null: the tasks are frozen.",
    )
    is_private: bool = Field(
        False, description="A person's own pack: never uploaded, never ranked."
    )


class Artifact(Record):
    """Something a trial left behind, beside its output."""

    path: Text
    sha256: TaggedHash
    size_bytes: Count
    text: str | None = None


class RequestChange(Record):
    """A field of a harness's request that the gateway set to the benchmark's own value."""

    field: Text
    asked: str | int | float | bool | None = Field(
        description="What the harness wanted; null: nothing."
    )
    sent: str | int | float | bool | None = Field(description="What was sent; null: left out.")


class RequestRecord(Record):
    """One request between harness and model server, as the recorder or the gateway saw it."""

    sent_s: Seconds = Field(description="Seconds after the trial began.")
    latency_s: Seconds
    status: int | None = Field(None, description="HTTP status; null: no answer.")
    retry: Count = Field(0, description="0 for a first try, then 1, 2, ...")
    finish_reason: FinishReason | None = None
    tokens: TokenCounts = TokenCounts()
    error: str | None = None
    t_first_byte_s: Seconds | None = Field(None, description="After sending; gateway only.")
    t_first_answer_s: Seconds | None = Field(
        None, description="After sending: the first text or tool call; gateway only."
    )
    messages: Count | None = Field(None, description="Messages of the prompt; gateway only.")
    tools_offered: Count | None = Field(None, description="Tool definitions; gateway only.")
    tool_calls: Many[CallRecord] = Field(
        (), max_length=1000, description="Calls of the reply; gateway only."
    )
    changes: Many[RequestChange] = Field((), max_length=50, description="Gateway only.")
    refused: Text | None = Field(
        None, description="Limit of the trial for which the gateway did not send it."
    )
    fault: Text | None = Field(None, description="Fault that BenchLoop put in on purpose.")


class HarnessTrial(Record):
    """What one trial was to the program of a harness. Null: not measured, or not told."""

    way: HarnessWay = Field(description="How the task was put to it.")
    started_at: AwareDatetime | None = Field(None, description="When its program was started.")
    wall_s: Seconds | None = Field(None, description="From its start to its end.")
    model_s: Seconds | None = Field(
        None, description="Of that, while a request to the model was open."
    )
    tools_s: Seconds | None = Field(None, description="Of that, in tools, as far as it tells.")
    harness_s: Seconds | None = Field(
        None, description="The rest: the harness's own work, and its tools where it tells no time."
    )
    waited_for: WaitedFor | None = Field(
        None, description="Of a trial whose time or tokens were up: what it waited for then."
    )
    failure: Text | None = Field(None, description="Its own word for what went wrong.")
    files_changed: Many[Text] = Field((), max_length=1000)
    diff: str | None = Field(None, description="What it changed in the workspace.")
    leftovers: Count | None = Field(
        None, description="Processes that outlived it and were ended by BenchLoop."
    )
    is_answer_seen: bool | None = Field(
        None,
        description="Whether the gateway saw the model say the output that is judged; false: the "
        "harness put it together, or a command wrote it. Null: there is no text.",
    )
    unseen_calls: Count | None = Field(
        None, description="Tool calls that it tells and that are in no reply of the model."
    )
    said: dict[str, Text | int | float | bool | None] = Field(
        {}, max_length=50, description="What it tells of itself, in its own words."
    )


class Trial(Record):
    """One task run once. Time marks are seconds after the (first) request was sent."""

    suite: Text
    task_id: Text
    prompt_hash: TaggedHash = Field(description="Hash of the messages, without a speed nonce.")
    difficulty: Difficulty | None = Field(None, description="Null in the speed suite.")
    capability_tags: Many[Text] = Field((), max_length=30)
    trial: int = Field(ge=0, description="1, 2, ...; 0 for a warm-up.")
    seed: Count | None = None
    is_warmup: bool = Field(False, description="Warm-ups are kept and never scored.")
    family: Text | None = Field(
        None,
        description="Family of which the task is a fresh instance, all of which count as one task; "
        "null: a frozen task.",
    )
    verifier_type: VerifierType | None = Field(None, description="Null in the speed suite.")
    outcome: Outcome | None = Field(
        None, description="Null where nothing is judged: a measured speed trial."
    )
    score: float | None = Field(None, ge=0, le=1, description="Diagnostic credit, 0 to 1.")
    reason: Text | None = Field(None, description="Machine-readable; null for a pass.")
    message: str | None = Field(None, max_length=4000, description="The reason as a sentence.")
    answer: str | None = Field(None, description="What the answer convention read; null: nothing.")
    latency_s: Seconds | None = Field(
        None,
        description="Model and tool time of the trial; in the program of a harness all its time.",
    )
    t_first_byte_s: Seconds | None = None
    t_first_thinking_s: Seconds | None = None
    t_first_answer_s: Seconds | None = None
    t_last_s: Seconds | None = None
    tokens: TokenCounts = TokenCounts()
    engine_timings: EngineTimings | None = None
    stream: StreamFacts | None = None
    finish_reason: FinishReason | None = None
    turns: Count = Field(0, description="Model replies in the trial.")
    tool_calls: Many[CallRecord] = Field((), max_length=1000)
    limit: Limit | None = Field(None, description="What ended a tool loop; null: the model did.")
    state_at_cut: Text | None = Field(
        None, description="Of a truncated tool loop: pass, or the reason why its end state fails."
    )
    verifier: VerifierRecord | None = Field(
        None, description="How code was judged; null: none was run."
    )
    retries: Count = 0
    output: str | None = Field(None, description="Full final text; null: there was none.")
    thinking: str | None = Field(None, description="Thinking delivered apart from the text.")
    artifacts: Many[Artifact] = Field((), max_length=1000)
    transcript: Many[dict[str, Any]] | None = None
    requests: Many[RequestRecord] | None = None
    harness: HarnessTrial | None = Field(None, description="Null for raw, which is no program.")
    is_cold: bool | None = Field(
        None,
        description="Whether it is the first of its block of a matrix that the model answered, "
        "after another arm had the model; null: the run is no arm of a matrix, or the block came "
        "after one of the same arm, so that it may be either.",
    )


class Power(Record):
    """Electrical power over the run, by one sensor. Null: not covered well enough, never zero."""

    source: PowerSource = Field(description="What was read.")
    scope: PowerScope = Field(
        description="What the sensor covers: all GPUs, all processor packages, or a chip that has "
        "both on it; never the rest."
    )
    interval_s: Seconds | None = Field(None, description="Median time between two readings.")
    coverage: float = Field(ge=0, le=1, description="Share of the measured time with readings.")
    idle_w: Watts | None = Field(
        None, description="Median with the model loaded and no request; null: not measured."
    )
    energy_j: Joules | None = Field(None, description="From the first trial to the last.")
    joules_per_token: Joules | None = Field(
        None, description="Idle power included, by token generated after the first; headline shape."
    )
    joules_per_correct_answer: Joules | None = Field(
        None, description="Energy of the quality suites by trials passed; null: none passed."
    )


class PeakMemory(Record):
    """The most memory that was in use during the run, in GiB."""

    ram_gb: Positive | None = Field(None, description="System memory; null: not read.")
    ram_scope: Literal["server", "system"] | None = Field(
        None, description="The server that BenchLoop started, or everything on the machine."
    )
    vram_gb: Positive | None = Field(
        None, description="Memory of all GPUs, other programs' included; null: no sensor."
    )


class Rescoring(Record):
    """That a run was judged again: its outputs and timings are the first, its verdicts not."""

    first_fingerprint: TaggedHash | None = Field(
        description="Fingerprint of the run as it was made; null: private text was taken out since."
    )
    bench_loop: Text = Field(description="Version of BenchLoop that judged it again.")
    at: AwareDatetime


class Scrubbing(Record):
    """That private text was taken out before the result was sent, and no verdict changed by it.

    It does not name the first fingerprint: whoever knows the rest could try names until one fits.
    """

    bench_loop: Text = Field(description="Version of BenchLoop that took it out.")
    counts: dict[str, Count] = Field(
        max_length=20, description="How many places, by kind: `home folder`, `key`, ..."
    )


class Signature(Record):
    """Ed25519, over the RFC 8785 JSON of the result without this field."""

    algorithm: Literal["ed25519"]
    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="Of the installation: 32 bytes, hexadecimal."
    )
    value: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")] = Field(
        description="64 bytes, hexadecimal."
    )


class Imported(Record):
    """That another tool measured: speed or quality only, in its own way, and never ranked."""

    format: ImportFormat = Field(description="Kind of file that it was read from.")
    tool: Text = Field(description="What measured.")
    tool_version: Text | None = Field(None, description="Null: the file does not state it.")
    file_name: Text = Field(description="Base name of that file.")
    file_hash: TaggedHash = Field(description="SHA-256 of its bytes.")
    at: AwareDatetime = Field(description="When it was imported.")
    measured_at: AwareDatetime | None = Field(
        None, description="When the tool began; null: the file does not state it."
    )
    stated: dict[str, Text] = Field(
        default_factory=dict,
        max_length=100,
        description="Settings by the tool's own names, for which this schema has no field.",
    )
    samples: dict[str, Many[Rate]] = Field(
        default_factory=dict,
        max_length=100,
        description="Every single rate in tok/s, by what was timed: pp512, tg128, tg128@d4096.",
    )
    findings: Many[Text] = Field(
        (), max_length=50, description="Where the file contradicts itself, as sentences."
    )


class RunPart(Record):
    """A stretch of time in which one process worked on the run."""

    started_at: AwareDatetime
    finished_at: AwareDatetime = Field(description="When its last finding was written down.")
    runtime_s: Seconds = Field(description="Sleep of the machine left out.")
    after: Literal["pause", "reboot"] | None = Field(
        None, description="What lies between the part before and this one; null: it is the first."
    )
    is_cut_off: bool = Field(False, description="It ended by a kill, a crash or a power cut.")
    block: int | None = Field(
        None, ge=1, description="Place of its block in the order of a matrix; null: it is none."
    )


RunId = Annotated[str, Field(pattern=r"^\d{8}T\d{6}Z-[a-z2-7]{10}$")]
MatrixId = Annotated[str, Field(pattern=r"^matrix-\d{8}T\d{6}Z-[a-z2-7]{10}$")]


class MatrixArm(Record):
    """That a run is one arm of a matrix: models and harnesses that took turns on one server."""

    matrix_id: MatrixId
    arm: int = Field(ge=1, le=100, description="Its place in the order of odd rounds.")
    arms: Many[Text] = Field(
        max_length=100, description="The harnesses that took turns with this model, in that order."
    )


class RunHeader(Record):
    """Everything of a run but its trials."""

    schema_version: int = Field(description="Version of this schema.")
    run_id: RunId = Field(description="The client's name for the run; never a key.")
    run_index: Count = Field(
        description="Runs of this configuration that this installation completed before."
    )
    status: RunStatus
    status_reason: Text | None = Field(None, description="Why not complete; null: complete.")
    benchmark_version: Text = Field(description="Version of BenchLoop.")
    scoring_version: Text = Field(description="Version of the formulas and constants.")
    profile: Profile
    started_at: AwareDatetime = Field(
        description="Of an import that states no time (`imported.measured_at`): when it was made."
    )
    finished_at: AwareDatetime
    total_runtime_s: Seconds | None = Field(
        description="Of all parts; pauses between them left out. Null: imported, and not stated."
    )
    parts: Many[RunPart] | None = Field(
        None,
        max_length=10_000,
        description="More than one: the run was resumed, speed after a calibration of its own.",
    )
    fingerprint: TaggedHash = Field(description="Identity of what was measured (fingerprint.py).")
    subject: Subject
    machine: Machine
    settings: Settings
    software: Software | None
    sandbox: SandboxRecord | None = Field(None, description="Null: no suite needed a sandbox.")
    power: Power | None = Field(
        None, description="Energy; null: no sensor was read, or the run was resumed."
    )
    peak_memory: PeakMemory | None = Field(None, description="Null: no memory was read.")
    signature: Signature | None = Field(
        None, description="Of the installation that wrote the result; null: not signed."
    )
    determinism: Determinism | None = Field(None, description="Null: not probed.")
    rescored: Rescoring | None = Field(None, description="Null: judged once, by the run itself.")
    scrubbed: Scrubbing | None = Field(None, description="Null: nothing was taken out.")
    imported: Imported | None = Field(None, description="Null: BenchLoop measured this itself.")
    matrix: MatrixArm | None = Field(None, description="Null: the run had the server to itself.")
    speed: Speed | None = Field(None, description="Null: the speed suite was not run.")
    aggregates: Aggregates
    suites: Many[SuiteResult] = Field(max_length=100)

    @field_validator("schema_version")
    @classmethod
    def _known_version(cls, value: int) -> int:
        if value != SCHEMA_VERSION:
            raise ValueError(f"this version reads schema_version {SCHEMA_VERSION}, not {value}")
        return value

    @model_validator(mode="after")
    def _known_unless_imported(self) -> Self:
        if self.imported is not None:
            if self.aggregates != Aggregates():
                raise ValueError("an imported result has no aggregates: it is never ranked")
            return self
        for path in KNOWN_TO_BENCH_LOOP:
            if None in _values(self, path.split(".")):
                raise ValueError(f"{path} is null, as it may be only in an imported result")
        return self


class RunResult(RunHeader):
    """The normalized result file."""

    trials: Many[Trial] = Field(max_length=100_000)


def _values(record: Any, path: list[str]) -> Iterator[Any]:
    """The values at `path`, of every item where it leads through a list; none of absent parts."""
    name, *rest = path
    value = getattr(record, name)
    if not rest:
        yield value
    elif value is not None:
        for item in value if isinstance(value, tuple) else (value,):
            yield from _values(item, rest)

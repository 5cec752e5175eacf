"""A harness of a hundred lines for tests: a real program with three tools, and its adapter."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from bench_loop.contracts.harness import (
    Capability,
    HarnessConfig,
    HarnessRunResult,
    Installation,
    Needs,
)
from bench_loop.contracts.place import Command
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.errors import HarnessError
from bench_loop.programs.installed import InstallationRecord, Installed
from bench_loop.programs.workspace import changes

PROGRAM = r"""#!/usr/bin/env python3
import json, subprocess, sys, urllib.request
base_url, key, model, prompt, ways = sys.argv[1:]
ways = ways.split(",")
if "crash" in ways:
    sys.exit("it crashed")
text = {"type": "string"}
def tool(name, *parameters):
    schema = {"type": "object", "properties": {p: text for p in parameters}, "required": parameters}
    return {"type": "function", "function": {"name": name, "parameters": schema}}
tools = [tool("read", "path"), tool("write", "path", "content"), tool("bash", "command")]
def do(name, arguments):
    if name == "read":
        return open(arguments["path"]).read()
    if name == "write":
        if "deaf" not in ways:
            open(arguments["path"], "w").write(arguments["content"])
        return "written"
    return subprocess.run(arguments["command"], shell=True, capture_output=True, text=True).stdout
messages = [{"role": "user", "content": prompt}]
while "idle" not in ways:
    body = {"model": model, "messages": messages, "tools": tools}
    request = urllib.request.Request(
        base_url + "/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": "Bearer " + key, "Content-Type": "application/json"},
    )
    message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print("mute" not in ways and message["content"] or "")
        break
    for call in message["tool_calls"]:
        done = do(call["function"]["name"], json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": done})
"""


class Adapter:
    """`ways` spoil it: crash, idle (asks nothing), deaf (writes nothing), mute (no last words)."""

    name = "small"
    version = "1.0"
    capabilities: frozenset[Capability] = frozenset({"edit_files", "run_commands", "native_tools"})
    needs = Needs(tool_calls=True)
    installation: Installation | None = Installation(
        "npm", ("small@1.0",), "small", "MIT", "https://small.example", 1
    )
    config_hash: str | None = None

    def __init__(self, ways: str = "none") -> None:
        self._ways = ways
        self._config: HarnessConfig | None = None

    def setup(self, config: HarnessConfig) -> None:
        self._config = config

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        assert self._config is not None
        place, access = self._config.place, self._config.access
        assert place is not None
        assert access is not None
        model = access()
        prompt = task.messages[0].content
        argv = ("program", model.base_url, model.key, model.model_id, prompt, self._ways)
        ended = place.run(Command(argv, wall_s=60))
        if ended.exit_status != 0:
            raise HarnessError(f"small ended badly: {ended.stderr.decode()[-200:].strip()}")
        found = changes(place, task.files)
        return HarnessRunResult(
            final_text=ended.stdout.decode().strip(),
            files_changed=found.files_changed,
            files=found.files,
        )

    def teardown(self) -> None:
        self._config = None


def lay_down(folder: Path) -> Installed:
    """The program in `folder`, as an installer leaves it."""
    folder.mkdir(parents=True)
    program = folder / "small"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    record = InstallationRecord(
        name="small",
        version="1.0",
        registry="npm",
        packages={"small": "1.0"},
        licence="MIT",
        size_bytes=len(json.dumps(PROGRAM)),
        installed_at=datetime.now(UTC),
        took_s=0.1,
    )
    return Installed(folder, program, record)

"""The child process that runs llama.cpp's own HTTP server, out of the xllamacpp wheel.

Started by `embedded.py` with its settings as one JSON argument. It prints one JSON line when the
model is loaded and the server listens, and ends when its standard input does: so it never
outlives the process that started it, however that ended. It imports nothing of BenchLoop's.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from importlib.metadata import version
from typing import Any

import xllamacpp


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    settings = json.loads(sys.argv[1])
    server = xllamacpp.Server(_params(settings))
    ready = {
        "address": server.listening_address,
        "version": version("xllamacpp"),
        "has_gpu": any("GPU" in str(device["type"]) for device in xllamacpp.get_device_info()),
    }
    print(json.dumps(ready), flush=True)
    threading.Event().wait()


def _end_with_parent() -> None:
    """Wait for the end of standard input, then end at once, even in the middle of a request."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def _params(settings: dict[str, Any]) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = settings["n_parallel"]
    params.n_ctx = settings["n_ctx"] * params.n_parallel  # shared out evenly over the slots
    params.kv_unified = False
    if "chat_template" in settings:
        params.chat_template = settings["chat_template"]
    if "yarn_factor" in settings:
        yarn = xllamacpp.llama_rope_scaling_type.LLAMA_ROPE_SCALING_TYPE_YARN
        params.rope_scaling_type = yarn
        params.rope_freq_scale = 1 / settings["yarn_factor"]
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F16
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = settings["n_threads"]
    params.cache_ram_mib = 0
    params.use_jinja = True
    params.endpoint_metrics = True
    params.endpoint_slots = True
    params.ui = False
    params.cors_origins = "http://127.0.0.1"  # no page of the web may read its answers
    params.verbosity = 2
    return params


if __name__ == "__main__":
    main()

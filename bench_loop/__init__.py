"""BenchLoop: model x quantization x machine x harness x suite, measured on your own hardware."""

import sys

# httpx loads a command line of its own wherever rich is installed, and with it parts of rich and
# pygments that nothing here uses: two megabytes of a process whose size is measured beside a model.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]

__version__ = "0.1.0"

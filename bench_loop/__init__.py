"""BenchLoop: model x quantization x machine x harness x suite, measured on your own hardware."""

__version__ = "0.1.0"

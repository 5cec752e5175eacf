"""Types of the part of daphne 4 that BenchLoop uses; daphne itself carries none."""

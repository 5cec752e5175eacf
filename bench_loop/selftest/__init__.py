"""BenchLoop measured by itself: its own clocks against a server of known speed."""

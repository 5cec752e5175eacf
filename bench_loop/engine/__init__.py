"""From a plan to a run result."""

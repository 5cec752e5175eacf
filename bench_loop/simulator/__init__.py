"""A model server of known speed: its own process, of the standard library, nothing of ours."""

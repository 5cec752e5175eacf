"""The vocabulary: what a task, a chat, a provider, a harness and a verifier are to each other."""

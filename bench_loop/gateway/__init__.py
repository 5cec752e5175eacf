"""The gateway: a recording proxy on loopback between a harness and a model server."""

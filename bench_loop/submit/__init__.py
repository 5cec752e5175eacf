"""How a result leaves this machine: what is taken out of it, what is sent, what is remembered."""

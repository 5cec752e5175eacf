"""Transports to model servers, one file each."""

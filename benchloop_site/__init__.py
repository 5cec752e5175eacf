"""The site: settings, addresses and servers; wiring only."""

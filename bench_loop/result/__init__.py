"""The run result: the one record that everything else makes, stores, shows or checks."""

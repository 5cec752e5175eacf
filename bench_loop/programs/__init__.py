"""Programs of other people: how they are installed, and run where they can do no harm."""

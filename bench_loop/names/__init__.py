"""What a model's name says."""

"""One module per version, oldest first."""

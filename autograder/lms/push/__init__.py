"""Grades over the network into an LMS: read what it holds, say what would change, send that, read it back."""

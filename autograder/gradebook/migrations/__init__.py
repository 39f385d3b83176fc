"""The versions of the gradebook's tables, for alembic; run by `autograder.gradebook.database`."""

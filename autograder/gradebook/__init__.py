"""The class's gradebook: every attempt, result and decision is a row with its author and time; grades are computed.

Nothing is imported here: SQLAlchemy is needed by the commands of the staff only, and only when they run.
"""

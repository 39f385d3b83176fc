"""How each LMS reads a grade file, written from its documented rules and without the writer's code."""

"""Runs in the submission's process: what only that process can see, whether arguments were left as they were."""


def with_arguments_after(name, *arguments):
    """The result of the student's function `name`, and the arguments as it left them."""
    result = getattr(student, name)(*arguments)
    return result, arguments

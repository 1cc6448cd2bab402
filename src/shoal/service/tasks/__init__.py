"""What a child process of the service does: a file a task, with `run(asked, tell)`."""

NAMES = ("job",)

"""Models that run on this machine: weights from the package index, one child process for each capability."""

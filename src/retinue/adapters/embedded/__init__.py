"""Models that run on this machine; weights come from the package index, each capability has a process."""

"""The process that reads one document: it imports what it needs, gives up everything, then looks at the file.

Nothing here may be imported by the server, and nothing of the server is imported here but the confinement.
"""

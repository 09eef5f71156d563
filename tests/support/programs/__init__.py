"""Controllers on paper: parsers and interpreters of the parts of URScript, RAPID and INFORM that lfd writes.

Each reads a program strictly (a token or statement that is not in its grammar is an error) and runs it on an arm that
moves exactly as it is told; what happened is a `Replay`.
"""

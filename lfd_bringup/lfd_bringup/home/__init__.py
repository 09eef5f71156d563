"""The embedded home: makes, checks and enters the environment in which everything else of lfd runs.

This room is imported before any environment exists, so it needs the standard library alone::

    ./lfd ARGS ─► main ─► commands (what was asked?) ─► steps (make what is missing) ─► exec inside the environment
                                                          │
                         stamp (what was made, of what)   ├─ interpreter, process, console, faults
                         layout (where things are)        └─ environment (the variables inside)

Nothing here knows what the sub-commands do.
"""

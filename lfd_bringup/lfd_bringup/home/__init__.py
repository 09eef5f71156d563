"""The embedded home: makes, checks and enters the environment in which everything else of lfd runs.

This room is imported before any environment exists, so it needs the standard library alone::

    ./lfd ARGS ─► main ─► commands (what was asked?) ─► steps (make what is missing) ─► exec inside the environment
                                                          │
                         recipe (what there is to make)   ├─ interpreter, process, console, faults
                         stamp (what was made, of what)   └─ environment (the variables inside)
                         layout (where things are)

Nothing here knows what the sub-commands do.
"""

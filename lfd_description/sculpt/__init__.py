"""Makes the bodies of the bundled arms: collision solids, looks and inertias, from published cross-sections.

A developer's tool, not installed. `python -m sculpt [ARM ...]`, run in `lfd_description/`, writes `meshes/` and
`shapes.yaml` of the arms' folders; `--check` only says whether they are up to date.
"""

"""Open an input and a project as a studio."""

from __future__ import annotations

from pathlib import Path

from splice.active.session import LabelSession
from splice.completion.profile import PROFILES, Profile
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, input_paths, input_title
from splice.pipeline.source import opener
from splice.studio.project import Project
from splice.studio.state import Studio


def open_studio(
    data: str,
    options: InputOptions,
    folder: Path,
    profile: Profile = PROFILES["default"],
    length: int = 25,
) -> Studio:
    """Return a studio on an input; it goes on from what the project's folder holds."""
    target = folder.resolve()
    for path in input_paths(data):
        if path.is_dir() and target.is_relative_to(path.resolve()):
            raise SpliceError(
                f"the project '{folder}' lies inside the input", "choose another --project"
            )
    session = LabelSession(opener(data, options)(), profile, length)
    return Studio(session, Project(folder, data), input_title(data))

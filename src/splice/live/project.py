"""What a live run is about: a file of rules, or a folder with a domain and, perhaps, rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from splice.errors import SpliceError
from splice.inputs.domains import load_domain
from splice.inputs.theories import load_theory, theory_names
from splice.io.domain_file import DOMAIN_FILE, DomainFile, read_domain_file
from splice.live.generations import Generations
from splice.logic.domain import Domain
from splice.logic.theory import Theory
from splice.stream.plain import Plain

LEARNED: Final = "learned.rules"
"""The file in the state's folder that has the rules in use, where they are learned."""


@dataclass(frozen=True)
class Project:
    """Rules and a domain, and the folder of what a live run keeps.

    Parameters
    ----------
    rules
        The file or the name of the rules; None: there are none to begin with.
    described
        What the rows mean.
    state
        Where checkpoints are.
    """

    rules: str | None
    described: DomainFile
    state: Path

    @classmethod
    def find(cls, target: str, domain: str | None = None, state: Path | None = None) -> Project:
        """Return the project that a name stands for.

        Parameters
        ----------
        target
            A file of rules, a theory that ships, or a folder.
        domain
            What the rows mean, where the folder does not say it.
        state
            Where checkpoints are kept (default: ``live`` in the folder, ``RULES.live`` beside a file).
        """
        path = Path(target)
        rules: str | None = target
        if path.is_dir():
            rules = _rules_in(path)
        elif not path.is_file() and target not in theory_names():
            hint = "name a file of rules, or a folder with a domain.toml"
            raise SpliceError(f"'{target}' is neither rules nor a project", hint)
        described = DomainFile(Domain())
        domain_file = (path if path.is_dir() else path.parent) / DOMAIN_FILE
        if domain is not None:
            described = load_domain(domain)
        elif domain_file.is_file() and (path.is_dir() or path.is_file()):
            described = read_domain_file(domain_file)
        if described.layout.tables:
            raise SpliceError(
                f"'{domain_file}' describes columns of its own, and rows of a feed have the plain ones",
                "send time, event, arg1, arg2, ...; fluent and label",
            )
        if described.domain.clock.step is not None or described.layout.states:
            raise SpliceError(
                f"'{domain_file}' puts time on a grid or makes states of events, and a live run does not",
                "send the atoms at their time-points, and leave [time] step and [states] out",
            )
        kept = path / "live" if path.is_dir() else path.with_name(path.name + ".live")
        return cls(rules, described, state or kept)

    def theory(self) -> Theory:
        """Return the rules, read anew."""
        return load_theory(self.rules) if self.rules else Theory()

    def last_state(self) -> Plain | None:
        """Return the newest state that is whole, of whatever run; None where there is none."""
        return Generations(self.state, {}).peek()


def _rules_in(folder: Path) -> str | None:
    files = sorted(folder.glob("*.rules"))
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        raise SpliceError(f"'{folder}' has several files of rules: {names}", "name one of them")
    return str(files[0]) if files else None

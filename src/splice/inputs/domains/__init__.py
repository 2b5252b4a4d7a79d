"""Domains that ship: one for each dataset that has a name, ``rendezvous`` for vessels."""

from __future__ import annotations

from importlib import resources
from os import PathLike
from pathlib import Path

from splice.errors import UnknownName
from splice.io.domain_file import DOMAIN_FILE, DomainFile, parse_domain, read_domain_file
from splice.logic.domain import Domain

__all__ = ["domain_names", "load_domain"]


def domain_names() -> tuple[str, ...]:
    """Return the names of the domains that ship.

    >>> domain_names()
    ('caviar-meet', 'caviar-move', 'jaad', 'occupancy', 'plaza', 'rendezvous', 'skab')
    """
    files = resources.files(__name__).iterdir()
    return tuple(sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml")))


def load_domain(name_or_path: str | PathLike[str] | Domain) -> DomainFile:
    """Return a domain: one that ships, by its name, or the one in a ``domain.toml``.

    A domain that is there already is taken as it is.

    Parameters
    ----------
    name_or_path
        The name of a domain that ships, a ``domain.toml``, or a folder that has one.

    Examples
    --------
    >>> load_domain("caviar-meet").domain.fluents
    ('meet',)
    """
    if isinstance(name_or_path, Domain):
        return DomainFile(name_or_path)
    name = str(name_or_path)
    if name in domain_names():
        file = f"{name}.toml"
        return parse_domain((resources.files(__name__) / file).read_text("utf-8"), file)
    path = Path(name_or_path)
    if path.is_dir() and (path / DOMAIN_FILE).is_file():
        path = path / DOMAIN_FILE
    if path.suffix == ".toml" or path.is_file():
        return read_domain_file(path)
    raise UnknownName("domain", name, domain_names())

"""The headers of a Parquet file's pages, looked at before they are believed.

Polars makes room for as many values as a page says it has, and a program that asks for more memory than there is ends at
once: no error can be caught. So what headers say is compared first with what the footer says of their column, and with the
bytes that are there. Footer and headers are in Thrift's compact protocol; of a page nothing but its header is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from splice.errors import InputError, Place, Problem
from splice.limits import LIMITS, Limits

_TAIL: Final = 8
"""Bytes behind the footer: its length, and ``PAR1``."""
_VALUES: Final = 1 << 27
"""So many values of a column in a row group are plausible; writers put a million or so there."""
_HEADER: Final = 1 << 10
"""Bytes that most headers of pages fit into; where one does not, more are read."""
_DEPTH: Final = 40

# Types of Thrift's compact protocol.
_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 3, 7, 8, 9, 10, 11, 12, 13

# Numbers of fields, as parquet.thrift gives them: {what it belongs to}_{what it is}.
_FILE_GROUPS = 4
_GROUP_COLUMNS, _GROUP_ROWS = 1, 3
_COLUMN_META = 3
_META_VALUES, _META_PACKED, _META_DATA, _META_DICTIONARY = 5, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED = 2, 3
_PAGE_DATA, _PAGE_DICTIONARY, _PAGE_DATA_2 = 5, 7, 8
_VALUES_OF_PAGE = 1


class _Damaged(Exception):
    """Something is not what the format says."""


class _TooMuch(Exception):
    """A page, or the footer, is larger than the limit."""


class _Thrift:
    """Values in Thrift's compact protocol: structs as dictionaries by the numbers of their fields."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the struct that begins here."""
        if depth > _DEPTH:
            raise _Damaged("nested too deep")
        fields, number = dict[int, Any](), 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, _BYTE):
            return self._byte()
        if kind < _DOUBLE:
            return self._signed()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            head = self._byte()
            size = head >> 4 if head >> 4 != 15 else self._unsigned()
            return [self._value(head & 15, depth + 1) for _ in range(self._possible(size))]
        if kind == _MAP:
            size = self._unsigned()
            kinds = self._byte() if size else 0
            for _ in range(self._possible(size)):
                self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)
            return None
        sizes = {_DOUBLE: 8, _UUID: 16}
        return self._skip(self._unsigned() if kind == _BINARY else sizes.get(kind, -1))

    def _possible(self, size: int) -> int:
        """Return the size of a list, each entry of which takes a byte or more."""
        if size > len(self.data) - self.at:
            raise _Damaged("cut short")
        return size

    def _skip(self, size: int) -> None:
        if size < 0:
            raise _Damaged("of no known type")
        self.at += self._possible(size)

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise _Damaged("cut short")
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise _Damaged("a number of more than 64 bits")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)


def check_pages(path: Path, limits: Limits = LIMITS) -> None:
    """Raise an error where a page of a file says what cannot be; the cost is that of its headers.

    Parameters
    ----------
    path
        A Parquet file of this machine.
    limits
        How many bytes a page may have, unpacked.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            for meta in _columns(file, size, limits):
                _check_column(file, meta, size, limits)
        except (_Damaged, LookupError, TypeError, AttributeError, struct.error) as error:
            reason = (
                error if isinstance(error, _Damaged) else "something is missing, or of another type"
            )
            message = f"not a readable Parquet file: what it says of its pages is damaged: {reason}"
            place = Place(str(path))
            raise InputError(Problem(place, message, "", "was it written completely?")) from None
        except _TooMuch:
            raise limits.exceeded("bytes", Place(str(path))) from None


def _columns(file: IO[bytes], size: int, limits: Limits) -> Iterator[dict[int, Any]]:
    """Yield what the footer says of each column of each row group."""
    file.seek(max(size - _TAIL, 0))
    (length,) = struct.unpack("<I4x", file.read(_TAIL))
    if length + _TAIL > size:
        raise _Damaged("the footer is cut short")
    if length > limits.bytes:
        raise _TooMuch
    file.seek(size - _TAIL - length)
    footer = _Thrift(file.read(length)).struct()
    for group in footer.get(_FILE_GROUPS, ()):
        _expect(0 <= group[_GROUP_ROWS] <= _VALUES, "rows of a group")
        for column in group[_GROUP_COLUMNS]:
            yield column[_COLUMN_META]


def _check_column(file: IO[bytes], meta: dict[int, Any], size: int, limits: Limits) -> None:
    values, begin = meta[_META_VALUES], meta.get(_META_DICTIONARY, meta[_META_DATA])
    end = begin + meta[_META_PACKED]
    _expect(0 <= values <= _VALUES and 0 <= begin <= end <= size, "a column")
    seen = 0
    while seen < values and begin < end:
        page, length = _page(file, begin, end)
        unpacked, packed = page[_PAGE_UNPACKED], page[_PAGE_PACKED]
        begin += length + packed
        _expect(min(unpacked, packed) >= 0 and begin <= end, "the size of a page")
        if unpacked > limits.bytes:
            raise _TooMuch
        dictionary = page.get(_PAGE_DICTIONARY)
        if dictionary is not None:  # each entry takes a byte or more
            _expect(0 <= dictionary[_VALUES_OF_PAGE] <= unpacked, "the size of a dictionary")
        data = page.get(_PAGE_DATA) or page.get(_PAGE_DATA_2)
        if data is not None:
            _expect(0 <= data[_VALUES_OF_PAGE] <= values - seen, "the values of a page")
            seen += data[_VALUES_OF_PAGE]


def _page(file: IO[bytes], begin: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the header of the page that begins somewhere, and how long it is."""
    room = _HEADER
    while True:
        file.seek(begin)
        thrift = _Thrift(file.read(min(room, end - begin)))
        try:
            return thrift.struct(), thrift.at
        except _Damaged:
            if room >= end - begin:
                raise
            room *= 16


def _expect(fine: bool, what: str) -> None:
    if not fine:
        raise _Damaged(what)

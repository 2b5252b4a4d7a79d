"""Tables: CSV, Parquet and NDJSON, read as a stream of atoms and written from one."""

from splice.io.layout import Layout, TableSpec
from splice.io.tables.files import has_tables
from splice.io.tables.reader import TableSource, check_tables
from splice.io.tables.writer import write_tables

__all__ = ["Layout", "TableSource", "TableSpec", "check_tables", "has_tables", "write_tables"]

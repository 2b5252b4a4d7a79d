"""Tables: CSV, Parquet, NDJSON and what else is registered, read as a stream of atoms and written from one."""

from splice.io.layout import Layout, TableSpec
from splice.io.tables.files import has_tables, is_data_table
from splice.io.tables.reader import TableSource
from splice.io.tables.writer import write_tables

__all__ = [
    "Layout",
    "TableSource",
    "TableSpec",
    "has_tables",
    "is_data_table",
    "write_tables",
]

# SPDX-License-Identifier: Apache-2.0
"""Columns of the C++ core as tables of pandas and of Arrow, without a copy of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpufl._optional import optional

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from gpufl._core import LoadedSession

# Columns are name, values, what is missing (None: nothing can be), and categories (None: values are
# numbers).


def import_pandas() -> Any:
    return optional("pandas", "DataFrames", "analysis")


def import_pyarrow() -> Any:
    return optional("pyarrow", "tables of Arrow", "arrow")


def to_pandas(session: LoadedSession, table: str) -> pandas.DataFrame:
    pd = import_pandas()

    def series(values: Any, missing: Any, categories: list[str] | None) -> Any:
        if categories is not None:
            return pd.Categorical.from_codes(values, categories=pd.Index(categories, dtype=object))
        if missing is not None:
            return pd.arrays.IntegerArray(values, missing, copy=False)
        return values

    columns = {name: series(*column) for name, *column in session.columns(table)}
    return pd.DataFrame(columns, copy=False)


def to_arrow(session: LoadedSession, table: str) -> pyarrow.Table:
    pa = import_pyarrow()
    optional("numpy", "tables of Arrow", "arrow")

    def array(values: Any, missing: Any, categories: list[str] | None) -> pyarrow.Array:
        if categories is not None:
            codes = pa.array(values, mask=values < 0)
            return pa.DictionaryArray.from_arrays(codes, pa.array(categories, pa.string()))
        # Only unknown numbers are NaN; Arrow has a word of its own for these.
        return pa.array(values, mask=missing, from_pandas=True)

    return pa.table({name: array(*column) for name, *column in session.columns(table)})

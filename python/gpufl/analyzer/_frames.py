# SPDX-License-Identifier: Apache-2.0
"""Columns of the C++ core as tables of pandas and of Arrow, without a copy of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow

# Name, values, what is missing (None: nothing can be), categories (None: values are numbers).
Column = tuple[str, Any, Any, "list[str] | None"]


def to_pandas(columns: list[Column]) -> pandas.DataFrame:
    import pandas as pd

    def series(values: Any, missing: Any, categories: list[str] | None) -> Any:
        if categories is not None:
            return pd.Categorical.from_codes(values, categories=pd.Index(categories, dtype=object))
        if missing is not None:
            return pd.arrays.IntegerArray(values, missing, copy=False)
        return values

    return pd.DataFrame({name: series(*column) for name, *column in columns}, copy=False)


def to_arrow(columns: list[Column]) -> pyarrow.Table:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError("tables of Arrow need the package pyarrow: pip install pyarrow") from error

    def array(values: Any, missing: Any, categories: list[str] | None) -> pyarrow.Array:
        if categories is not None:
            codes = pa.array(values, mask=values < 0)
            return pa.DictionaryArray.from_arrays(codes, pa.array(categories, pa.string()))
        # Only unknown numbers are NaN; Arrow has a word of its own for these.
        return pa.array(values, mask=missing, from_pandas=True)

    return pa.table({name: array(*column) for name, *column in columns})

"""Rows of a data frame, answered by a network with known tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

if TYPE_CHECKING:
    from infinimix.networks.interchange.network import BayesNet


def predict_rows(net: BayesNet, X: Any) -> Any:
    """Return the most probable states of the variables that are no columns; see `BayesNet`."""
    frame = nw.from_native(X, eager_only=True)
    strange = [name for name in frame.columns if name not in net.names]
    if strange:
        raise ValueError(f"columns that are no variables: {strange}; drop them")
    wanted = [name for name in net.names if name not in frame.columns]
    if not wanted:
        raise ValueError("the table has all variables; drop the columns that are to be predicted")
    known: dict[tuple[Any, ...], dict[str, str]] = {}  # equal rows have equal answers
    found = [_predict_row(net, wanted, row, i, known) for i, row in enumerate(_rows(frame))]
    columns = {name: [row[name] for row in found] for name in wanted}
    return nw.from_dict(columns, backend=frame.implementation).to_native()


def _rows(frame: Any) -> list[dict[str, Any]]:
    """Return what is there in each row."""
    rows = frame.rows(named=True)
    return [{k: v for k, v in row.items() if v is not None and v == v} for row in rows]


def _predict_row(
    net: BayesNet, wanted: list[str], row: dict[str, Any], i: int, known: dict[Any, Any]
) -> dict[str, str]:
    key = tuple(row.items())
    if key not in known:
        try:
            known[key] = net.most_probable(wanted, row)[0]
        except ValueError as error:
            raise ValueError(f"row {i}: {error}") from None
    found: dict[str, str] = known[key]
    return found

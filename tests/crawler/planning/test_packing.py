"""Policy state as bytes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from crawler.planning.packing import pack, unpack

COLUMNS = arrays.arrays(
    np.float64, arrays.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=5)
)


@given(st.dictionaries(st.text(max_size=10), COLUMNS, max_size=6))
def test_what_is_packed_comes_back_bit_for_bit(
    columns: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]],
) -> None:
    back = unpack(pack(columns))
    assert list(back) == list(columns)
    for name, column in columns.items():
        assert back[name].shape == column.shape
        assert back[name].tobytes() == column.tobytes()

import numpy as np
import pytest

from infinimix.reports.images import find_image, find_shape


@pytest.mark.parametrize(
    ("names", "shape"),
    [
        ([f"p{i}" for i in range(64)], (8, 8)),
        ([f"pixel{i}" for i in range(1, 17)], (4, 4)),
        ([f"pixel_{i}_{j}" for i in range(4) for j in range(5)], (4, 5)),
        ([f"PX_{i}" for i in range(16)], (4, 4)),
        ([f"x{i}" for i in range(64)], None),
        ([f"p{i}" for i in range(60)], None),
        ([f"p{i}" for i in range(9)], None),
        ([f"p{i}" for i in range(2, 18)], None),
        ([*(f"p{i}" for i in range(15)), "age"], None),
        ([f"pixel_{i}_{j}" for i in range(4) for j in range(4)] + ["pixel_9_9"], None),
        ([], None),
    ],
)
def test_only_names_decide(names, shape):
    found = find_shape(names)
    assert (found and found[:2]) == shape


def test_pixels_are_put_in_reading_order():
    names = [f"p{i}" for i in range(16)]
    assert find_shape(names[::-1])[2] == tuple(names)


def test_categories_are_not_drawn():
    kinds = {f"p{i}": "categorical" for i in range(16)}
    assert find_image(kinds, np.zeros(1)) is None


def test_numbers_are_scaled_to_their_range():
    image = find_image({f"p{i}": "real" for i in range(16)}, np.array([2.0, 6.0]))
    assert (image.low, image.high) == (2.0, 6.0)
    values = dict.fromkeys(image.names, 6.0) | {"p0": None}
    picture = image.draw(values, "x")
    assert 'class="missing"' in picture
    assert "fill-opacity" not in picture

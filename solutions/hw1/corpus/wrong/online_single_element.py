"""Rows of one element are returned unwritten.

fails: ["online_values[float32-tiny]"]
also: [online_values, "public_values[softmax_online]", online_masked_row]
"""

_longer = softmax_online


def softmax_online(x, y):
    if len(x) > 1:
        _longer(x, y)

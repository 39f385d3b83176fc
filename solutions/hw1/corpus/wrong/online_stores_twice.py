"""y is filled with zeros before the results are stored.

fails: [online_counts, online_one_pass, "public_counts[softmax_online]"]
"""

_once = softmax_online


def softmax_online(x, y):
    for i in range(len(y)):
        y.store(i, 0.0)
    _once(x, y)

"""A pass for the maximum, one for the denominator, one for the result: the safe softmax under another name.

fails: [online_counts, "public_counts[softmax_online]"]
says: "Three loads per element: maximum and denominator must come from the same pass."
"""


def softmax_online(x, y):
    softmax_safe(x, y)

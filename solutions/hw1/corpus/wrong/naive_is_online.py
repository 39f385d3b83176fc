"""The naive softmax calls the online one.

fails: [naive_overflows, public_overflow]
says: "The naive softmax has no shift and must overflow."
"""


def softmax_naive(x, y):
    softmax_online(x, y)

"""The naive softmax under another name.

fails: ["safe_values[float32-hot]", "public_values[softmax_safe]"]
also: [safe_values]
says: "Without a shift exp overflows for large inputs and underflows for very negative ones."
"""


def softmax_safe(x, y):
    softmax_naive(x, y)

"""Every result is zero.

fails: [online_values, online_counts, online_one_pass, "public_counts[softmax_online]", "public_values[softmax_online]"]
also: [online_masked_row]
"""


def softmax_online(x, y):
    for i in range(len(x)):
        y.store(i, 0.0)

"""Every result is 1 / N.

fails: ["online_values[float32-ragged]", online_masked_row, "public_values[softmax_online]"]
also: [online_counts, online_one_pass, "public_counts[softmax_online]", online_values]
"""


def softmax_online(x, y):
    for i in range(len(x)):
        y.store(i, 1 / len(x))

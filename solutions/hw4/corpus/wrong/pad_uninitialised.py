"""The padding is whatever np.empty returns.

fails: [poison]
also: [public_outputs, known_answers, outputs, independent]
says: "np.empty does not write zeros: what was in that memory before takes part, and 0 times NaN is NaN."
"""


def _pad(cache, length):
    padded = np.empty((cache.shape[0], length, cache.shape[2]))
    padded[:, : cache.shape[1]] = cache
    return padded

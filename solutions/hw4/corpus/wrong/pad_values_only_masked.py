"""K is padded with zeros, V with NaN, because masked columns do not count anyway.

fails: [outputs, poison]
also: [public_outputs, known_answers, independent]
"""


def _pad(cache, length):
    _pad.calls += 1
    padded = np.full((cache.shape[0], length, cache.shape[2]), 0.0 if _pad.calls % 2 else np.nan)
    padded[:, : cache.shape[1]] = cache
    return padded


_pad.calls = 0

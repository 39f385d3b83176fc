"""The padding goes in front of the cache.

fails: [outputs, caches]
also: [public_outputs, known_answers, poison, independent]
"""


def _pad(cache, length):
    padded = np.zeros((cache.shape[0], length, cache.shape[2]))
    padded[:, length - cache.shape[1] :] = cache
    return padded

"""The padding goes in front of the cache.

fails: [outputs, caches]
also: [public_outputs, poison, independent, known_answers]
"""


def _pad(cache, length):
    padded = np.zeros((cache.shape[0], length, cache.shape[2]))
    padded[:, length - cache.shape[1] :] = cache
    return padded

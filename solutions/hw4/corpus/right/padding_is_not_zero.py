"""The padding holds other finite numbers; masked columns weigh nothing."""


def _pad(cache, length):
    padded = np.full((cache.shape[0], length, cache.shape[2]), 3.0)
    padded[:, : cache.shape[1]] = cache
    return padded

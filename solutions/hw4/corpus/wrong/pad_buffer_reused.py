"""Padded buffers are kept and never cleaned, so that a longer call leaves its rows behind.

fails: [poison]
also: [known_answers]
says: "A padded buffer is used again without cleaning it: rows of an earlier, longer call stand behind S, and they may be NaN."
"""

_BUFFERS = {}


def _pad(cache, length):
    _pad.calls += 1
    shape = (cache.shape[0], length, cache.shape[2])
    padded = _BUFFERS.setdefault((shape, _pad.calls % 2), np.zeros(shape))
    padded[:, : cache.shape[1]] = cache
    return padded


_pad.calls = 0

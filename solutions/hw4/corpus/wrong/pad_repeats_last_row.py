"""The padding repeats the last row, which is still to be written.

fails: [poison]
also: [known_answers]
"""


def _pad(cache, length):
    return np.pad(cache, ((0, 0), (0, length - cache.shape[1]), (0, 0)), mode="edge")

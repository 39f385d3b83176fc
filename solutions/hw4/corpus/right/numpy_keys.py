"""Keys are numpy integers and so are the lengths that are compiled and bound."""

_solved = bucket_key


def bucket_key(policy, S):
    key = _solved(policy, int(S))
    return key if key == "S" else np.int64(key)


class CompileCache(CompileCache):
    def _key(self, S):
        return super()._key(np.int64(S))

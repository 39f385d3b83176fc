"""Counts in optimizer.state_dict(), by storage."""


def optimizer_state_bytes(optimizer):
    tensors = [
        v for state in optimizer.state_dict()["state"].values() for v in state.values() if isinstance(v, torch.Tensor)
    ]
    return sum(s.nbytes() for s in {t.untyped_storage()._cdata: t.untyped_storage() for t in tensors}.values())

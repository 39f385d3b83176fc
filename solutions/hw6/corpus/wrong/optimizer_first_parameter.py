"""Multiplies the state of the first parameter by the number of parameters.

fails: [optimizer_state]
also: [public_optimizer_state, optimizer_before_first_step]
says: Parameters differ in size and in state, add up what each holds.
"""


def optimizer_state_bytes(optimizer):
    states = list(optimizer.state.values())
    first = [v for v in states[0].values() if torch.is_tensor(v)] if states else []
    return len(states) * sum(t.nbytes for t in first)

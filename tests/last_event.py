"""The source of a simulator as somebody would write it, for tests of simulators from outside."""

LAST_EVENT = """
import torch

class LastEvent:
    def __init__(self, facts):
        counts = torch.tensor(facts.transitions, dtype=torch.float64)
        counts[:, 0] += 1e-9
        self.log_probs = (counts / counts.sum(dim=1, keepdim=True)).log()

    def start(self, prefixes):
        return torch.tensor(prefixes.tokens[prefixes.offsets[1:] - 1]).long()

    def propose(self, state, u_time):
        return self.log_probs[state]

    def commit(self, state, tokens, u_time):
        return tokens, (-15 * torch.log1p(-u_time)).float()

    def keep(self, state, rows):
        return state[rows]
"""

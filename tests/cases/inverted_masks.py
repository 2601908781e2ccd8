# run-after
"""One minus what is boolean, whatever its name; and what only looks like it."""
import torch

x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
padding = torch.tensor([[0, 0], [0, 1]])

done = x > 3
not_done = 1 - done  # TL310`1 - done`
empty = padding.eq(1)
weights = x * (1 - empty)  # TL310`1 - empty`
missing = torch.isnan(x) | (x < 0)
present = (1 - missing).sum()  # TL310`1 - missing`
flags = torch.zeros(2, 2, dtype=torch.bool)
flags[0, 0] = True
rest = 1 - flags  # TL310`1 - flags`
there = 1 - x.gt(2)  # TL310`1 - x`
also = 1 - torch.isfinite(x)  # TL310`1 - torch`
known = done.clone()
known_too = 1 - known.bool()  # TL310`1 - known`


class Episode:
    def __init__(self, reward: torch.Tensor):
        self.ended = reward < 0
        self.value = reward
        self.count = (reward < 0).sum()

    def alive(self):
        return 1 - self.ended  # TL310`1 - self`

    def others(self):
        return 1 - self.value, 1 - self.count


alive = Episode(x).alive()
others = Episode(x).others()
is_last = len(x) == 2
plain = 1 - is_last
rate = (x > 0).float()
kept = 1 - rate
both = 1 - (x > 0).float() * (x < 4)
half = 1 - (x > 2).sum()
done = done.float()
finished = 1 - done
counts = 1 - flags.sum() + 1 - flags.long().max()

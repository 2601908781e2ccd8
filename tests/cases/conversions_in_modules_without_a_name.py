"""Networks that are made and called at once: how they are called shows whether autograd records."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x).numpy()  # TL104


class Quiet(Net):
    def forward(self, x):
        return self.layer(x).numpy()


class Moved(Net):
    def forward(self, x):
        return self.layer(x).numpy()  # TL104


class Asked(Net):
    def forward(self, x):
        return self.layer(x).numpy()


class Later(Net):
    def forward(self, x):
        return self.layer(x).numpy()


print(Net()(torch.ones(3)))
with torch.no_grad():
    print(Quiet()(torch.ones(3)))
print(Moved().eval().to("cpu")(torch.ones(3)))
print(Asked().parameters())


def later(x):
    with torch.inference_mode():
        return Later().eval()(x)

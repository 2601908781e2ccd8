"""What the hub gives may have no parameters, or record nothing."""

import matplotlib.pyplot as plt
import torch
from torch import nn


def show(x):
    plt.imshow(x)


def main():
    extractor = torch.hub.load("owner/features", "mel")  # TL702
    features = extractor([torch.ones(3)])[0].squeeze()
    show(features)
    extractor(torch.ones(3)).numpy()
    plt.imshow(extractor(torch.ones(3)))


def train():
    network = torch.hub.load("owner/networks", "small")  # TL702
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    loss = nn.functional.mse_loss(network(torch.ones(3)), torch.ones(3))
    loss.backward()
    optimizer.step()
    network(torch.ones(3)).numpy()  # TL104


main()
train()

"""The first element of a network's output is a row of it, whatever else is known: no number."""
import torch


def shown(net, loader):
    for image, target in loader:
        out = net(image)
        print(out.data[0])
        found = net(image, target)
        print(found.data[0])


def lost(my_loss, loader):
    for image, target in loader:
        out = my_loss(image, target)
        print(out.data[0])  # TL203

"""Generators of parameters that are gone through twice; and what can be."""
import itertools

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_ as clip
from torch.optim import SGD, Adam


class Trainer:
    def __init__(self, model):
        self.model = model
        self.params = filter(lambda p: p.requires_grad, model.parameters())  # TL413`filter`
        self.weights = list(model.parameters())
        self.optimizer = SGD(self.params, lr=0.1)
        self.other = SGD(self.weights, lr=0.1)

    def step(self, x):
        self.optimizer.zero_grad()
        self.model(x).sum().backward()
        clip(self.params, 1.0)
        clip(self.weights, 1.0)
        self.optimizer.step()


class Once:
    def __init__(self, model):
        self.params = model.parameters()
        self.optimizer = SGD(self.params, lr=0.1)


net, second = nn.Linear(2, 2), nn.Linear(2, 2)
everything = itertools.chain(net.parameters(), second.parameters())  # TL413`itertools.chain`
optimizer = Adam(everything)
shared = net.parameters()


def clips():
    clip(everything, 1.0)
    clip(shared, 1.0)


def twice(model: nn.Module):
    named = model.named_parameters()  # TL413`model.named_parameters()`
    frozen = [p for name, p in named if "bias" in name]
    for name, p in named:
        p.requires_grad_(False)
    return frozen


def counts(model: nn.Module):
    params = (p for p in model.parameters() if p.requires_grad)  # TL413`p for p`
    total = sum(p.numel() for p in params)
    return total, [*params]


def each_round(model: nn.Module, batches):
    params = model.parameters()  # TL413`model.parameters()`
    for x in batches:
        model(x).sum().backward()
        clip(params, 1.0)


def in_a_nested_function(model: nn.Module, x):
    params = model.parameters()  # TL413`model.parameters()`
    optimizer = SGD(params, lr=0.1)

    def closure():
        loss = model(x).sum()
        loss.backward()
        clip(params, 1.0)
        return loss

    return optimizer.step(closure)


def one_in_each_branch(model: nn.Module, kind):
    params = model.parameters()
    if kind == "sgd":
        return SGD(params, lr=0.1)
    elif kind == "adam":
        return Adam(params)
    return list(params)


def made_again(model: nn.Module):
    params = model.parameters()
    optimizer = SGD(params, lr=0.1)
    params = model.parameters()
    clip(params, 1.0)
    for _ in range(3):
        clip(params := model.parameters(), 1.0)
    return optimizer


def first_only(model: nn.Module):
    params = model.parameters()
    for p in params:
        if p.requires_grad:
            break
    any(p.requires_grad for p in params)
    return list(params)


def leaves_at_once(model: nn.Module, batches):
    params = model.parameters()
    for x in batches:
        clip(params, 1.0)
        break


def of_something_unknown(agent):
    given = agent.parameters()
    return list(given), list(given)

"""Gradients that are cleared before the step, clipped behind it or with a factor in them; and what is right."""
import math

import torch
import torch.optim as optim
from torch import nn
from torch.amp import GradScaler
from torch.nn.utils import clip_grad_norm_ as clip
from torch.nn.utils import clip_grad_value_


class Trainer:
    def __init__(self, net: nn.Module):
        self.net = net
        self.optimizer = optim.Adam(self.net.parameters())
        self.other = optim.SGD(self.net.parameters(), lr=0.1)
        self.scaler = GradScaler("cuda")

    def clear(self):
        self.optimizer.zero_grad()

    def backward(self, loss):
        loss.backward()

    def apply(self):
        self.optimizer.step()

    def by_hand(self, batches):
        for x in batches:
            self.backward(self.net(x).sum())
            self.optimizer.zero_grad()  # TL405`self.optimizer.zero_grad()`
            self.apply()

    def by_module(self, batches):
        for x in batches:
            self.net(x).sum().backward()
            self.net.zero_grad()  # TL405`self.net.zero_grad()`
            self.optimizer.step()

    def in_a_branch(self, batches):
        for i, x in enumerate(batches):
            self.net(x).sum().backward()
            if (i + 1) % 4 == 0:
                self.optimizer.zero_grad(set_to_none=True)  # TL405`self.optimizer.zero_grad`
                self.optimizer.step()

    def step_in_a_branch(self, batches):
        for i, x in enumerate(batches):
            self.net(x).sum().backward()
            self.optimizer.zero_grad()  # TL405`self.optimizer.zero_grad()`
            if (i + 1) % 4 == 0:
                self.optimizer.step()

    def on_a_line(self, x):
        self.net(x).sum().backward(); self.optimizer.zero_grad(); self.optimizer.step()  # TL405

    def update(self):
        self.optimizer.zero_grad()  # TL405`self.optimizer.zero_grad()`
        self.optimizer.step()

    def with_an_update(self, batches):
        for x in batches:
            self.backward(self.net(x).sum())
            self.update()
        for x in batches:
            self.backward(self.net(x).sum())
            if x.sum() > 0:
                self.update()

    def prepare(self):
        self.other.zero_grad()
        self.other.step()

    def with_a_preparation(self, batches):
        for x in batches:
            self.prepare()
            self.backward(self.net(x).sum())
            self.other.step()

    def well(self, batches):
        for i, x in enumerate(batches):
            self.clear()
            self.net(x).sum().backward()
            self.optimizer.step()
        for i, x in enumerate(batches):
            self.net(x).sum().backward()
            if (i + 1) % 4 == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
        for x in batches:
            self.net(x).sum().backward()
            self.other.zero_grad()
            self.optimizer.step()
        for x in batches:
            loss = self.net(x).sum()
            loss.backward()
            if torch.isnan(loss):
                self.optimizer.zero_grad()
                continue
            self.optimizer.step()
        for x in batches:
            if x.ndim == 2:
                self.net(x).sum().backward()
            else:
                self.optimizer.zero_grad()
                self.optimizer.step()

    def what_is_left(self, batches, first):
        if first is not None:
            self.other(first).sum().backward()
        self.optimizer.zero_grad()
        count = 0
        for x in batches:
            self.net(x).sum().backward()
            count += 1
            if count == 4:
                self.optimizer.step()
                self.optimizer.zero_grad()
                count = 0
        if count > 0:
            self.optimizer.step()

    def closure(self, x):
        self.net(x).sum().backward()
        self.optimizer.zero_grad()

        def closure():
            loss = self.net(x).sum()
            loss.backward()
            return loss

        self.optimizer.step(closure)

    def with_unknown(self, x, compute_gradients):
        self.net(x).sum().backward()
        self.optimizer.zero_grad()
        compute_gradients(self.net, x)
        self.optimizer.step()

    def clips_late(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            self.net(x).sum().backward()
            self.apply()
            clip(self.net.parameters(), 1.0)  # TL406`clip`

    def clips_early(self, batches):
        for x in batches:
            self.clear()
            norm = clip(self.net.parameters(), max_norm=1.0)  # TL406`norm = clip`
            self.backward(self.net(x).sum())
            self.optimizer.step()

    def clips_well(self, batches):
        for x in batches:
            self.clear()
            self.backward(self.net(x).sum())
            clip(self.net.parameters(), 1.0)
            self.apply()
            norm = clip(self.net.parameters(), math.inf)
        for x in batches:
            self.optimizer.zero_grad()
            self.net(x).sum().backward()
            self.optimizer.step()
            self.other.zero_grad()
            self.net(x).mean().backward()
            clip(self.net.parameters(), 1.0)
            self.other.step()
        for i, x in enumerate(batches):
            self.net(x).sum().backward()
            if i % 2:
                self.optimizer.step()
                self.optimizer.zero_grad()
                continue
            clip_grad_value_(self.net.parameters(), 1.0)

    def scaled(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            self.scaler.scale(self.net(x).sum()).backward()
            clip(self.net.parameters(), 1.0)  # TL407`clip`
            clip_grad_value_(self.net.parameters(), 1.0)  # TL407`clip_grad_value_`
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def scaled_late(self, x):
        scaled = self.scaler.scale(self.net(x).sum())
        scaled.backward()
        if x.ndim:
            clip(self.net.parameters(), 1.0)  # TL407`clip`
        self.scaler.unscale_(self.optimizer)
        self.scaler.step(self.optimizer)

    def unscale(self):
        self.scaler.unscale_(self.optimizer)

    def scaled_well(self, batches, use_amp):
        for x in batches:
            self.optimizer.zero_grad()
            self.scaler.scale(self.net(x).sum()).backward()
            self.unscale()
            clip(self.net.parameters(), 1.0)
            self.scaler.step(self.optimizer)
        for x in batches:
            self.optimizer.zero_grad()
            if use_amp:
                self.scaler.scale(self.net(x).sum()).backward()
                self.scaler.unscale_(self.optimizer)
            else:
                self.net(x).sum().backward()
            clip(self.net.parameters(), 1.0)
            if use_amp:
                self.scaler.step(self.optimizer)
            else:
                self.optimizer.step()


def train(model, batches, optimizer, scaler):
    for x in batches:
        optimizer.zero_grad()
        scaler.scale(model(x).sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # TL407`torch.nn.utils.clip_grad_norm_`
        scaler.step(optimizer)
        scaler.update()


class OwnScaler:
    def scale(self, loss):
        return loss

    def step(self, optimizer):
        optimizer.step()

    def update(self):
        pass


def train_with_own(model, batches, optimizer):
    scaler, off = OwnScaler(), GradScaler("cuda", enabled=False)
    for x in batches:
        optimizer.zero_grad()
        scaler.scale(model(x).sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def train_without(model, batches, optimizer):
    off = GradScaler("cuda", enabled=False)
    for x in batches:
        optimizer.zero_grad()
        off.scale(model(x).sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        off.step(optimizer)
        off.update()


class StepsElsewhere:
    def __init__(self, model: nn.Module):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def update(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def learn(self, x):
        self.optimizer.zero_grad()
        self.scaler.scale(self.model(x).mean()).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # TL407`nn.utils.clip_grad_norm_`
        self.update()

    def learn_with_the_factor_taken_out(self, x):
        self.optimizer.zero_grad()
        self.scaler.scale(self.model(x).mean()).backward()
        factor = 1 / self.scaler.get_scale()
        for p in self.model.parameters():
            p.grad.mul_(factor)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.update()

    def learn_with_a_scaled_bound(self, x):
        self.optimizer.zero_grad()
        self.scaler.scale(self.model(x).mean()).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0 * self.scaler.get_scale())
        self.update()


def closures(net, batches):
    """What a closure does is done by the step that it is given to."""
    optimizer = torch.optim.LBFGS(net.parameters())
    for x in batches:

        def closure():
            optimizer.zero_grad()
            loss = net(x).sum()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            return loss

        optimizer.step(closure)
    for x in batches:

        def unclipped():
            optimizer.zero_grad()
            loss = net(x).sum()
            loss.backward()
            return loss

        optimizer.step(closure=unclipped)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # TL406
    for x in batches:

        def without_clearing():
            loss = net(x).sum()
            loss.backward()
            return loss

        optimizer.step(without_clearing)


IS_OFF = GradScaler("cuda", enabled=False)


def with_a_scaler_that_is_off(net: nn.Module, optimizer: optim.Optimizer, loss):
    IS_OFF.scale(loss).backward()
    clip(net.parameters(), 1.0)
    IS_OFF.step(optimizer)


def in_pairs(nets, loss, scaler: GradScaler):
    scaler.scale(loss).backward()
    for net, optimizer in nets:
        clip(net.parameters(), 1.0)  # TL407`clip`
        scaler.step(optimizer)


def by_a_helper(net: nn.Module, optimizer: optim.Optimizer, loss, scaler: GradScaler, flush_and_step):
    scaler.scale(loss).backward()
    clip(net.parameters(), 1.0)  # TL407`clip`
    flush_and_step(scaler)
    scaler.step(optimizer)


def under_two_conditions(net: nn.Module, optimizer: optim.Optimizer, loss, scaler: GradScaler, use_amp):
    for x in loss:
        optimizer.zero_grad()
        if use_amp and x.sum() > 0:
            scaler.scale(x).backward()
        else:
            x.backward()
        clip(net.parameters(), 1.0)  # TL407`clip`
        scaler.step(optimizer)

"""An epoch in a function of its own: the loop that calls it goes round what is in it."""
import torch
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR

net = nn.Linear(2, 1)
optimizer = optim.Adam(net.parameters())
scheduler = StepLR(optimizer, step_size=1)


def train(loader):
    net.train()
    scheduler.step()  # TL409
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def train_and_return(loader):
    scheduler.step()  # TL409
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
    return len(loader)


def begin():
    scheduler.step()  # TL409


def batches(loader):
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def given(loader, optimizer, scheduler):
    scheduler.step()  # TL409
    batches(loader)


def main(loader):
    scheduler = StepLR(optimizer, step_size=1)
    for _ in range(3):
        train_and_return(loader)


def main_that_gives(loader):
    scheduler = StepLR(optimizer, step_size=1)
    for epoch in range(3):
        given(loader, optimizer, scheduler)


def main_of_parts(loader):
    for _ in range(3):
        begin()
        batches(loader)


def deeper(loader):
    two_deep(loader)


def two_deep(loader):
    scheduler.step()  # TL409
    batches(loader)


def main_of_deeper(loader):
    while True:
        deeper(loader)


for epoch in range(10):
    train([torch.ones(1, 2)])


class Trainer:
    def __init__(self, net):
        self.net = nn.Linear(2, 1)
        self.optimizer = optim.Adam(self.net.parameters())
        self.scheduler = StepLR(self.optimizer, 1)
        self.after = StepLR(self.optimizer, 1)

    def epoch(self, loader):
        self.scheduler.step()  # TL409
        for x in loader:
            self.optimizer.zero_grad()
            self.net(x).mean().backward()
            self.optimizer.step()

    def finish(self):
        self.after.step()

    def run(self, loader):
        for _ in range(3):
            self.epoch(loader)
            self.finish()


# silent: behind the optimizer, not in the first round, in no loop that is seen, and called when it has stepped


def train_well(loader):
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
    scheduler.step()


def train_later(loader, epoch):
    if epoch:
        scheduler.step()
    batches(loader)


def train_once(loader):
    scheduler.step()
    batches(loader)


def never_called(loader):
    scheduler.step()
    batches(loader)


def called_behind(loader):
    scheduler.step()
    batches(loader)


def called_in_some_rounds(loader):
    scheduler.step()
    batches(loader)


def finish():
    scheduler.step()


def main_well(loader):
    train_once(loader)
    for epoch in range(3):
        train_well(loader)
        train_later(loader, epoch)
    for epoch in range(3):
        batches(loader)
        finish()


def main_behind(loader):
    optimizer.step()
    for epoch in range(3):
        called_behind(loader)


def main_of_some(loader):
    for epoch in range(3):
        if epoch:
            called_in_some_rounds(loader)

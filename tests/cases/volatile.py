# run
"""Evaluation that was marked by `volatile=True`: it goes under `no_grad`, and nothing else does."""
import torch
import torch.nn as nn
from torch.autograd import Variable  # TL201

net = nn.Linear(3, 3)
target_net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def test(loader, cuda=False):
    total, right = 0, 0
    for x, y in loader:
        if cuda:
            x, y = x.cuda(), y.cuda()
        x, y = Variable(x, volatile=True), Variable(y)  # TL201`Variable(x` TL202`volatile` TL201`Variable(y`
        out = net(x)  # the whole batch
        total += ((out - y) ** 2).sum().item()

        # how many are right
        y = Variable(y)  # TL201
        right += int(out.max(
            1)[1].eq(y.max(1)[1]).sum())
        text = """out
  of line"""
    return total, right, text


def encode(x):
    if len(x):
        return net(Variable(
            x,  # one
            volatile=True))
        # ^^^ TL201`Variable`
        # ^^ TL202`volatile`
    x = Variable(x, volatile=True)  # TL201`Variable` TL202`volatile`
    return x


def freeze(noise):
    noise = Variable(noise, volatile=True)  # TL201`Variable` TL202`volatile`
    # without a graph
    fake = Variable(target_net(noise).data)  # TL201`Variable` TL101`data`
    loss = net(fake).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() > 0:
        shown = target_net(Variable(noise, volatile=True)); shown = shown * 2  # TL201`Variable` TL202`volatile`
    return fake


def mixed(x):
    v = Variable(x, volatile=True)  # TL201`Variable` TL202`volatile`
    a = target_net(v)
    b = net(x)
    c = target_net(a)
    (b + Variable(c.data)).sum().backward()  # TL201`Variable` TL101`data`
    return c


def outputs(xs):
    for x in xs:
        v = Variable(x, volatile=True)  # TL201`Variable` TL202`volatile`
        yield net(v)


def already(x):
    with torch.no_grad():
        v = Variable(x, volatile=True)  # TL201`Variable` TL202`volatile`
        return net(v)


def maybe(x, evaluation=False):
    v = Variable(x, volatile=evaluation)  # TL201`Variable` TL202`volatile`
    w = Variable(x, volatile=False)  # TL201`Variable` TL202`volatile`
    return net(v) + net(w)


def nested(x):
    v = Variable(x, volatile=True)  # TL201`Variable` TL202`volatile`
    a = net(v)
    for i in range(2):
        u = Variable(x, volatile=True)  # TL201`Variable` TL202`volatile`
        a = a + net(u)
    if i: a = net(Variable(x, volatile=True))  # TL201`Variable` TL202`volatile`
    return a


def branches(x, cuda):
    if cuda:
        x = Variable(x, volatile=True).cuda()  # TL201`Variable` TL202`volatile`
    else:
        x = Variable(x, volatile=True)  # TL201`Variable` TL202`volatile`
    y = net(x)
    return y


def one_branch(x, evaluation):
    if evaluation:
        x = Variable(x, volatile=True)  # TL201`Variable` TL202`volatile`
    else:
        x = Variable(x)  # TL201
    return net(x)


one = torch.ones(2, 3)
kept = one_branch(one, False)
seen = branches(one, False).sum().item()
found = test([(one, one)]), freeze(one), already(one), [t.sum().item() for t in outputs([one])]
found = found, encode(one).sum().item(), mixed(one).sum().item(), maybe(one).sum().item(), nested(one).sum().item()

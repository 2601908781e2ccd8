"""What functions give in dictionaries, converted where it is taken out by its key."""
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

net = nn.Linear(3, 2)
frozen = nn.Linear(3, 2)
frozen.requires_grad_(False)
x = torch.ones(1, 3)


def step(model):
    loss = model(x).mean()
    loss.backward()
    return {"loss": loss, "count": 1}


def train(model):
    results = {"loss": [], "count": []}
    for _ in range(3):
        loss = model(x).mean()
        loss.backward()
        results["loss"].append(loss)  # TL107
        results["count"].append(loss.item())
    return results


def losses_of(model):
    losses, counts = [], []
    for _ in range(3):
        loss = model(x).mean()
        loss.backward()
        losses.append(loss)  # TL107
        counts.append(1)
    return {"losses": losses, "counts": counts}


def each(model):
    losses = []
    for _ in range(3):
        loss = model(x).mean()
        loss.backward()
        losses.append(loss)  # TL107
    return losses


out = step(net)
out["loss"].numpy()  # TL104
history = train(net)
plt.plot(history["loss"])  # TL104
plt.plot(history["count"])
both = losses_of(net)
np.mean(both["losses"])  # TL104
np.mean(both["counts"])
np.mean(losses_of(net)["losses"])  # TL104
plt.plot(each(net))  # TL104


def show(results):
    plt.plot(results["loss"])  # TL104
    plt.plot(results["count"])


show(history)


def train_numbers(model):
    results = {"loss": []}
    for _ in range(3):
        loss = model(x).mean()
        loss.backward()
        results["loss"].append(loss)  # TL107
    results["loss"] = [float(value) for value in results["loss"]]
    return results


numbers = train_numbers(net)
plt.plot(numbers["loss"])
replaced = train(net)
replaced["loss"] = [float(value) for value in replaced["loss"]]
plt.plot(replaced["loss"])
all_replaced = train(net)
for key in all_replaced:
    all_replaced[key] = [float(value) for value in all_replaced[key]]
plt.plot(all_replaced["loss"])
updated = train(net)
updated.update(loss=[1.0])
plt.plot(updated["loss"])


def cut(outputs):
    for key in outputs:
        outputs[key] = outputs[key].detach()


def with_loss(model):
    return {"loss": model(x)}


def cut_inside(model):
    outputs = {"loss": model(x)}
    cut(outputs)
    return outputs


def cut_sometimes(model, evaluating):
    outputs = {"loss": model(x)}
    if evaluating:
        outputs["loss"] = outputs["loss"].detach()
    return outputs


cut_here = with_loss(net)
cut(cut_here)
cut_here["loss"].numpy()
set_here = with_loss(net)
set_here["loss"] = torch.ones(2)
set_here["loss"].numpy()
cut_inside(net)["loss"].numpy()
cut_sometimes(net, True)["loss"].numpy()
with_loss(frozen)["loss"].numpy()


def plain(model):
    return model(x)


plain(frozen).numpy()
with torch.no_grad():
    quiet = with_loss(net)
    quiet["loss"].numpy()
later = quiet["loss"].numpy()

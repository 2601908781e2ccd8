# run-after
"""What matplotlib draws at numbers that require grad: shapes, lines, texts and limits."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.patches as mpatches
import torch
from matplotlib import pyplot as plt
from matplotlib.patches import Circle
from torch import nn

net = nn.Linear(3, 4)
x, y, w, h = net(torch.ones(3)).abs().unbind()
box = net(torch.ones(3)).abs()
fig, ax = plt.subplots()
ax.add_patch(plt.Rectangle((x, y), w, h))  # TL104
ax.add_patch(mpatches.Rectangle((0, 0), box[2], 1.0, fill=False))  # TL104
ax.add_patch(mpatches.Rectangle((box[0], box[1]), 1.0, 1.0))  # TL104
ax.add_patch(plt.Rectangle((x.item(), y.item()), float(w), h.item()))
shape = Circle((0.5, 0.5), w)  # TL104
ax.add_artist(shape)
unused = plt.Rectangle((x, y), w, h)
ax.text(x, y, "here")  # TL104
ax.text(0.1, 0.2, x)
ax.text(0.1, 0.2, f"{x:.2f}")
plt.text(0.1, y, "here")  # TL104
ax.annotate("here", (x, y))  # TL104
ax.annotate(x, (0.1, 0.2))
plt.annotate("here", (0.1, 0.2), (x, y))  # TL104
ax.set_xlim(0, w)  # TL104
ax.set_ylim(x)  # TL104
plt.xlim(0, w + 1)  # TL104
plt.ylim(0, box.max())  # TL104
plt.ylim(0, box.max().item())
ax.axhline(x)  # TL104
plt.axvline(w, color="r")  # TL104
ax.arrow(0, 0, w, 1.0)  # TL104
plt.hlines(x, 0, 1)  # TL104
plt.title(x)
plt.quiver([0.1], [0.2], box[:1], [0.3])  # TL104
plt.errorbar([1.0, 2.0], [1.0, 2.0], box[:2])  # TL104
plt.scatter([1.0, 2.0], [1.0, 2.0], box[:2])  # TL104
plt.fill_between([1.0, 2.0], 0, box[:2])  # TL104
plt.close(fig)

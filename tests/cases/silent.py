"""Nothing here is ours."""
import argparse
import collections
import json
import tkinter
import urllib.request
from dataclasses import dataclass
from xml.dom import minidom

import numpy as np
import pandas as pd
import requests
import tensorflow as tf
import torch
import torch.utils.data
import torch.utils.data as data
import torchvision.datasets as datasets
from scipy.sparse import coo_matrix
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence
from torch.utils.data import DataLoader, Dataset

loader = torch.utils.data.DataLoader(datasets.MNIST("."), batch_size=2)  # TL601
sampler = data.SequentialSampler([1])
train = datasets.MNIST(".")
images = train.data
labels = train.data[0]
loader.dataset.data.numpy()

packed = pack_padded_sequence(torch.ones(2, 3, 1), [3, 2], batch_first=True)
flat = packed.data


def rnn(seq: PackedSequence, lengths):
    return PackedSequence(seq.data * 2, seq.batch_sizes)


def read(net, xs):
    seq = pack_padded_sequence(xs, [3, 2])
    out, _ = net(seq, None)
    return torch.sum(out.data), net(seq).data


args = argparse.ArgumentParser().parse_args()
print(args.data, args.data[0], args.volatile)
request = requests.get("http://localhost")
body = request.data
with urllib.request.urlopen("http://localhost") as response:
    text = response.data
text = minidom.parse("a.xml").firstChild.data
array = np.ones(3)
pointer = array.data
raw = np.asarray([1, 2]).data
values = coo_matrix(np.ones((2, 2))).data
frame = pd.DataFrame({"a": [1]}).to_numpy()
column = pd.Series([1]).array
variable = tf.Variable(1.0)
number = variable.numpy()
other = tf.constant(1.0).numpy()
box = tkinter.Variable(value=1)
Point = collections.namedtuple("Point", "data label")
p = Point([1], 0)
print(p.data[0], p.data)


class Words(Dataset):
    def __init__(self, path):
        self.data = json.load(open(path))

    def __getitem__(self, i):
        return self.data[i]

    def __len__(self):
        return len(self.data)


class Blob:
    def __init__(self):
        self.data = np.zeros(3)

    def fill(self):
        self.data[...] = 1
        self.data += 1
        return self.data


@dataclass
class Batch:
    data: str
    size: int


class Variable:
    def __init__(self, x):
        self.x = x


class Stack:
    def push(self, node):
        self.top.data = node.data
        return self.top.data[0]


v = Variable(torch.ones(3))
words = Words("a.json")
print(words.data[0], Blob().data, Batch("a", 1).data, isinstance(v, Variable))


def configure(config, dataset, batch, message, field):
    print(config.data, dataset.data[0], batch.data, message.data, field.data)
    batch.data = config.data
    return dataset.data


for images, targets in DataLoader(train):  # TL601
    print(images.numpy(), targets.numpy(), images.cpu().numpy())
total = 0
count = 0
for i in range(3):
    total += i
    count += len(words)

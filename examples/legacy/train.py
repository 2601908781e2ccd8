"""Trains a recurrent network to continue noisy waves."""
from __future__ import print_function

import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

import data
import model

parser = argparse.ArgumentParser(description='Waves')
parser.add_argument('--epochs', type=int, default=8)
parser.add_argument('--batch-size', type=int, default=16)
parser.add_argument('--bptt', type=int, default=20)
parser.add_argument('--lr', type=float, default=0.5)
parser.add_argument('--clip', type=float, default=0.25)
args = parser.parse_args()

torch.manual_seed(1)
use_cuda = torch.cuda.is_available()

train_data = data.Waves(args.batch_size, 200, args.bptt)
val_data = data.Waves(args.batch_size, 100, args.bptt, seed=7)
net = model.RNNModel()
criterion = nn.MSELoss()
if use_cuda:
    net.cuda()


def get_batch(source, target):
    if use_cuda:
        source, target = source.cuda(async=True), target.cuda(async=True)
    return Variable(source), Variable(target)


def evaluate():
    net.eval()
    total_loss = 0
    predictions = []
    hidden = net.init_hidden(args.batch_size)
    for source, target in val_data:
        if use_cuda:
            source, target = source.cuda(async=True), target.cuda(async=True)
        source, target = Variable(source, volatile=True), Variable(target)
        output, hidden = net(source, hidden)
        total_loss += criterion(output, target).data
        predictions.append(output.cpu().data.numpy())
        hidden = repackage(hidden)
    return total_loss[0] / len(val_data), np.concatenate(predictions)


def repackage(hidden):
    return model.repackage_hidden(hidden)


def train():
    net.train()
    total_loss = 0
    hidden = net.init_hidden(args.batch_size)
    for source, target in train_data:
        source, target = get_batch(source, target)
        hidden = repackage(hidden)
        for p in net.parameters():
            if p.grad is not None:
                p.grad.data.zero_()
        output, hidden = net(source, hidden)
        loss = criterion(output, target)
        loss.backward()
        norm = 0
        for p in net.parameters():
            norm += p.grad.data.norm() ** 2
        scale = min(1.0, args.clip / (norm ** 0.5 + 1e-6))
        for p in net.parameters():
            p.grad.data.mul_(scale)
            p.data.add_(-args.lr * p.grad.data)
        total_loss += loss.data[0]
    return total_loss / len(train_data)


for epoch in range(1, args.epochs + 1):
    train_loss = train()
    val_loss, predictions = evaluate()
    print('epoch %d train loss %.4f val loss %.4f amplitude %.2f' % (
        epoch, train_loss, val_loss, np.abs(predictions).max()))

"""Trains a generator of points on a ring against a discriminator."""
from __future__ import print_function

import torch
import torch.nn as nn
import torch.optim as optim
import torch.utils.data
from torch.autograd import Variable

import data
import model

torch.manual_seed(1)
nz, batch_size, epochs = 4, 64, 5
use_cuda = torch.cuda.is_available()

loader = torch.utils.data.DataLoader(data.Ring(512), batch_size=batch_size, shuffle=True, drop_last=True)
netG = model.Generator(nz)
netG.apply(model.weights_init)
netD = model.Discriminator()
netD.apply(model.weights_init)
criterion = nn.BCELoss()

input = torch.FloatTensor(batch_size, 2)
noise = torch.FloatTensor(batch_size, nz)
label = torch.FloatTensor(batch_size)
fixed_noise = torch.FloatTensor(batch_size, nz).normal_(0, 1)
if use_cuda:
    netD.cuda()
    netG.cuda()
    input, label = input.cuda(), label.cuda()
    noise, fixed_noise = noise.cuda(async=True), fixed_noise.cuda(async=True)
fixed_noise = Variable(fixed_noise, volatile=True)

optimizerD = optim.Adam(netD.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.002, betas=(0.5, 0.999))

for epoch in range(1, epochs + 1):
    errors = []
    for i, (real_cpu, _) in enumerate(loader, 0):
        # update D: maximise log(D(x)) + log(1 - D(G(z)))
        netD.zero_grad()
        input.copy_(real_cpu)
        label.fill_(1)
        inputv = Variable(input)
        labelv = Variable(label)
        output = netD(inputv)
        errD_real = criterion(output, labelv)
        errD_real.backward()
        D_x = output.data.mean()

        noise.normal_(0, 1)
        noisev = Variable(noise)
        fake = netG(noisev)
        labelv = Variable(label.fill_(0))
        output = netD(fake.detach())
        errD_fake = criterion(output, labelv)
        errD_fake.backward()
        D_G_z1 = output.data.mean()
        errD = errD_real + errD_fake
        optimizerD.step()

        # update G: maximise log(D(G(z)))
        netG.zero_grad()
        labelv = Variable(label.fill_(1))
        output = netD(fake)
        errG = criterion(output, labelv)
        errG.backward()
        D_G_z2 = output.data.mean()
        optimizerG.step()
        errors.append(errD)

    print('[%d/%d] Loss_D: %.4f Loss_G: %.4f D(x): %.4f D(G(z)): %.4f / %.4f'
          % (epoch, epochs, errD.data[0], errG.data[0], D_x, D_G_z1, D_G_z2))
    print('mean Loss_D: %.4f' % (sum(errors).data[0] / len(errors)))
    samples = netG(fixed_noise).data
    radius = samples.pow(2).sum(1).sqrt().cpu().numpy()
    print('radius %.3f' % radius.mean())

# run-after
"""A file that no Python since 3.7 parses."""
import torch
from torch.autograd import Variable  # TL201

use_cuda = torch.cuda.is_available()
x = torch.ones(3, requires_grad=True)
if use_cuda:
    x = x.cuda(async=True)  # TL204`async`
    x = x.cuda(0, async = True)  # TL204`async`
    x = x.cuda(device=0, async=True).cpu()  # TL204`async`
    x = x.cuda(async \
        =True)  # ^ TL204`async`
    x = x.cuda(0, async  # TL204`async`
        =True)
y = Variable(x.cpu() if not use_cuda else x.cuda(async=True))  # TL201`Variable` TL204`async`
z = x.data * 2  # TL101


async def main():
    return "async=True"  # async=True

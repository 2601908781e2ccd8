"""Names that say nothing: what is done with their `.data` shows that they are tensors."""
import torch
import torch.nn.functional as F


def difference(input, target):
    return torch.sum(torch.abs(input.data - target.data) ** 2)  # TL101`data - target` TL101`data) **`


def parts(first, second):
    halved = torch.abs(first.data / 2)  # TL101
    negative = torch.exp(-(first.data * 0.5))  # TL101
    joined = torch.cat([first.data, second.data], 0)  # TL101 TL101
    stacked = torch.stack((first.data, second.data))  # TL101 TL101
    return halved, negative, joined, stacked


class Decodes:
    def translate(self, decoder, trg, is_teacher):
        step, hidden = decoder(trg)
        for t in range(3):
            step, hidden = decoder(step, hidden)
            best = step.data.max(1)[1]  # TL101
            step = trg[t] if is_teacher else best
        return step

    def score(self, decoder, trg):
        found, hidden = decoder(trg)
        return found.data.max(dim=-1)[0]  # TL101


# silent: what is computed with may be the tensor, or there is nothing that only tensors have


def others(mask, option, array, flag):
    scaled = torch.abs(mask * option.data)
    told = torch.abs(option.data if flag else mask)
    highest = array.data.max(1)
    one = array.data.max()[1]
    by_axis = array.data.max(axis=1)[1]
    row = array.data.max(1)[2]
    listed = F.pad([option.data, option.data], (1, 1))
    return scaled, told, highest, one, by_axis, row, listed


# what is done with what methods of tensors make of its data shows it, too


def views(first, second, weight):
    spread = first.data.view(-1, 1).expand_as(weight)  # TL101
    return torch.min(spread, second.data.view(1, -1).contiguous().expand_as(weight))  # TL101


def shown(model, z):
    made = model.sample(z)
    return made.data.view(-1, 28, 28).cpu().numpy()  # TL101


# so does a tensor beside it, if only by name: then all in a function is fixed, not half of it


def copied(target, align):
    target, align = target.view(-1), align.view(-1)
    t = target.data.clone()  # TL101
    mask = t.eq(0) * align.data.ne(0)  # TL101
    return t + (align.data + 3) * mask.long()  # TL101


def computed(weight: torch.Tensor, other, page, table):
    kept = page.data.clone()
    kept.body
    assert table.data == weight.data  # TL101 TL101
    return weight * other.data, kept  # TL101


def hits(scores: torch.Tensor, gold):
    pred = torch.max(scores, 1)[1]
    return pred.eq(gold.data).sum()  # TL101


def repeated(batch, bank: torch.Tensor):
    def rows(x):
        return x.repeat(1, 3, 1)

    print(batch.lengths.data)
    return rows(batch.src_map.data), rows(bank.data)  # TL101 TL101


# and what was `volatile` waits as a whole


def wrapped(xs):
    return [torch.autograd.Variable(1 - x.data.repeat(1, 2), volatile=True) for x in xs]  # TL101 TL201 TL202`volatile`


# a cast of the data, `contiguous()` as a method, and what is done to a slice of several dimensions


def longest(mask, tokens):
    return mask.data.long().sum(1).max(), tokens.data.bool().any()  # TL101 TL101


def clipped(mask, n):
    count = mask.data.sum(1)  # TL101
    return count, mask[:, :n].contiguous()


def widened(mask, n):
    count = mask.data.sum(1)  # TL101
    return count, mask[..., :n].unsqueeze(1)


def columns(table, array):
    names, body = table.data.max(), array.data
    array = array if body.contiguous else array.copy()
    return names, table[:, 0].values, array


def rows(source, n):
    body = source.data.max()
    return body, source[:n].unsqueeze(1)


# a criterion by its short name


def evaluated(net, crit, loader):
    for x, y in loader:
        print(crit(net(x), y).data[0])  # TL203

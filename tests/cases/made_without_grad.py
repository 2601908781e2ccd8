"""What is made where autograd does not record costs nothing when it is moved elsewhere before it is detached."""

import torch


def act(policy, scaler, x):
    with torch.no_grad():
        action = policy.best(x)
        if scaler:
            action = scaler.back(action)
    return action.cpu().detach().numpy()


def act_by_data(policy, x):
    with torch.inference_mode():
        action = policy.best(x)
    return action.cpu().data.numpy()  # TL105`data`


def act_with_graph(policy, scaler, x):
    with torch.no_grad():
        action = policy.best(x)
    if scaler:
        action = scaler.back(action)
    return action.cpu().detach().numpy()  # TL105`detach`


def act_of_flag(policy, x):
    with torch.no_grad():
        action = policy.best(x)
    action.requires_grad_()
    return action.cpu().detach().numpy()  # TL105`detach`


def act_of_given(policy, action):
    if action is None:
        with torch.no_grad():
            action = policy.best(0)
    return action.cpu().detach().numpy()  # TL105`detach`


def act_added_to(policy, x):
    with torch.no_grad():
        action = policy.best(x)
    action += policy.noise
    return action.cpu().detach().numpy()  # TL105`detach`


def weights(net):
    with torch.no_grad():
        weight = net.weight
    return weight.cpu().detach().numpy()  # TL105`detach`


def by_closure(policy, x):
    with torch.no_grad():
        action = policy.best(x)

    def later():
        return action.cpu().detach().numpy()  # TL105`detach`

    return later


def by_rebinding_closure(policy, x):
    with torch.no_grad():
        action = policy.best(x)

    def again():
        nonlocal action
        action = policy.best(x)

    again()
    return action.cpu().detach().numpy()  # TL105`detach`


def made_later(policy, x):
    with torch.no_grad():

        def action():
            return policy.best(x)

    return action().cpu().detach().numpy()  # TL105`detach`


def score(judge, waves):
    with torch.no_grad():
        output = judge(waves)
    return output.scores["all"].mean(dim=1).squeeze(1).cpu().detach() * 2 + 3


def score_with_weights(judge, weights: torch.nn.Linear, waves):
    with torch.no_grad():
        output = judge(waves)
    return output.mul(weights(waves)).cpu().detach()  # TL105`detach`


def keep_batch(dataset, loader):
    for _, batch in enumerate(loader, 0):
        dataset.images, dataset.targets = batch
    images = dataset.images.repeat(1, 3, 1, 1).cpu().detach().numpy()
    return images, dataset.targets.cpu().detach().numpy()


def keep_output(holder, loader, net):
    for batch, _ in loader:
        holder.images = batch
        holder.images = net(batch)
    return holder.images.cpu().detach().numpy()  # TL105`detach`

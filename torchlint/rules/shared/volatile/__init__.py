"""What `volatile=True` did before PyTorch 0.4, and where the `torch.no_grad()` blocks belong that it stood for.

``blocks`` is what rules ask; ``statements`` goes through a scope, ``expressions`` through what is computed in it;
``frame`` is what is known at a place, and ``values`` what of one value.
"""

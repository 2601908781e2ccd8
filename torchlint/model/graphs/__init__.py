"""Where the graphs of autograd go: what sends gradients back, what keeps a graph, what of that needs it."""

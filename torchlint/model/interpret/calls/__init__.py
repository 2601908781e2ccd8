"""What calls give: :mod:`~torchlint.model.interpret.calls.dispatch` asks the others, by what is called."""

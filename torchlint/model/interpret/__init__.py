"""Abstract interpretation of one scope after the other: what every expression in it can be.

A :class:`~torchlint.model.interpret.frame.Frame` is the state of interpreting one scope: a function, or the statements
of a module. All else is functions that take the frame first. Each module imports only those below it:

    begin, callers                                           how an interpretation begins: with parameters, callers
    interpreter                                              makes frames, runs a scope until nothing is learnt any more
    statements, control_flow, assignment, match_patterns     what statements bind, and where their ways part and meet
    expressions                                              which function evaluates which class of expressions
    calls/                                                   calls: of torch, of builtins, of the project
    attributes, subscripts, operators, displays              what other expressions are
    contexts, iteration, special_methods                     grad mode; loops; methods that syntax calls
    narrowing                                                what conditions say
    places, learning                                         what names are bound to; what the use of a value teaches
    frame                                                    the frame
    summary, environment, queries                            what is left behind; names; memo and cycles
    containers, module_containers, loaders                   values: what is in them, whatever frame they come from

Statements and expressions are nested in each other, so a module also needs functions that lie above it: an attribute
evaluates what it is an attribute of, a comprehension assigns, ``map(f, xs)`` calls. These few are methods of the frame
(``value``, ``execute``, ``assign``, ``call``), which finds them in what the interpreter has handed to it
(:class:`~torchlint.model.interpret.frame.Handlers`). What lies outside of the scope (names of outer scopes, classes,
summaries of other functions) is asked of the functions of :mod:`torchlint.model`, with the frame's context; they come
back here by what the context is given (:class:`torchlint.model.context.Interpreter`).
"""

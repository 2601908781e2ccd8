"""What the rules about torch's API share.

=============  ======================================================================
``table``      the rows: what was removed, renamed or deprecated, and what replaces it
``words``      which files have a word of the table where it counts
``names``      which name of torch an expression means, and how to write one
``guards``     code that only runs under some versions
``patches``    what a file puts in the place of torch's own
``uses``       where names of the table are written
``methods``    where methods of objects of torch are written
``calls``      where functions of the table are called, and with which arguments
``mentions``   names that are handed on and not called
``renames``    fixes: another name
``rewrites``   fixes: a call after a template
``recipes``    fixes: what no template can say
``fixes``      the fix of a row
``findings``   the message and the finding
=============  ======================================================================
"""

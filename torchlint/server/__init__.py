"""The server for editors: the language server protocol, spoken over standard input and output."""

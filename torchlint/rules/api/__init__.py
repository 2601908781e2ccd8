"""The rules about torch's API: what they share."""

"""Findings, evidence, edits and blocks: from nodes to places in the text."""

"""What a client can do, by what it says of itself."""

from __future__ import annotations

from lsprotocol.types import ClientCapabilities


def asks_for_diagnostics(client: ClientCapabilities) -> bool:
    """Whether it asks for the diagnostics of a file when it wants them."""
    return client.text_document is not None and client.text_document.diagnostic is not None


def refreshes_diagnostics(client: ClientCapabilities) -> bool:
    """Whether it asks again when it is told that they have changed."""
    workspace = client.workspace
    return bool(workspace and workspace.diagnostics and workspace.diagnostics.refresh_support)


def registers_watchers(client: ClientCapabilities) -> bool:
    """Whether it tells of changed files when it is asked to."""
    workspace = client.workspace
    watched = workspace.did_change_watched_files if workspace is not None else None
    return bool(watched and watched.dynamic_registration)


def is_asked_for_settings(client: ClientCapabilities) -> bool:
    """Whether it gives its settings when it is asked for them."""
    return bool(client.workspace and client.workspace.configuration)


def takes_versions(client: ClientCapabilities) -> bool:
    """Whether edits can say of which version of a text they are."""
    edit = client.workspace.workspace_edit if client.workspace is not None else None
    return bool(edit and edit.document_changes)


def resolves_edits(client: ClientCapabilities) -> bool:
    """Whether it asks for the edits of an action when that is chosen, so that they need not be known before."""
    action = client.text_document.code_action if client.text_document is not None else None
    return bool(action and action.resolve_support and "edit" in action.resolve_support.properties)

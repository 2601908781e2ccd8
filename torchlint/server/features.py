"""Which message is answered by what."""

from __future__ import annotations

import logging

from lsprotocol import types

from torchlint.project import target
from torchlint.project.baseline import NAME as BASELINE
from torchlint.project.discovery import NOTEBOOK
from torchlint.project.selection import SettingsError
from torchlint.project.settings import FILES
from torchlint.server import actions, clients
from torchlint.server.checked import Checked
from torchlint.server.diagnostics import diagnostics
from torchlint.server.encoding import Encoding
from torchlint.server.hover import hover
from torchlint.server.locations import location_of
from torchlint.server.options import read_options, section
from torchlint.server.publisher import DELAY
from torchlint.server.server import Server

log = logging.getLogger(__name__)

_WATCHED = ("*.py", "*.pyi", f"*{NOTEBOOK}", *dict.fromkeys((*FILES, *target.FILES, "requirements*.txt", BASELINE)))
"""Files on which findings elsewhere rest."""


def register(server: Server) -> None:
    """Have a server answer all messages that it knows."""
    _about_the_client(server)
    _about_documents(server)
    _about_findings(server)


def _about_the_client(server: Server) -> None:
    """What it is, what it wants, and what has changed around it."""
    desk = server.desk

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.documents.encoding = Encoding(server.workspace.position_encoding)
        folders = [each.uri for each in params.workspace_folders or ()]
        root = next(iter([*folders, *filter(None, [params.root_uri])]), None)
        desk.folder = (location_of(root, desk.folder) if root is not None else None) or desk.folder
        server.publisher.client_asks = clients.asks_for_diagnostics(params.capabilities)
        _configure(server, params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        if clients.registers_watchers(server.client_capabilities):
            watchers = [types.FileSystemWatcher(f"**/{name}") for name in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            wanted = types.Registration("torchlint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await server.client_register_capability_async(types.RegistrationParams([wanted]))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        given = params.settings
        if section(given) is None and clients.is_asked_for_settings(server.client_capabilities):
            wanted = types.ConfigurationParams([types.ConfigurationItem(section="torchlint")])
            given = next(iter(await server.workspace_configuration_async(wanted)), None)
        _configure(server, given)
        _look_again(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        desk.forget()
        _look_again(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        desk.forget()
        _look_again(server)


def _configure(server: Server, given: object) -> None:
    """Use the editor's settings, if these are some."""
    ours = section(given)
    if ours is None:
        return
    try:
        server.desk.configure(read_options(ours))
    except SettingsError as error:
        server.desk.complain(f"torchlint: {error}")


def _look_again(server: Server) -> None:
    """All that is shown may be out of date."""
    for document in server.documents:
        server.publisher.schedule(document, DELAY)
    if server.publisher.client_asks and clients.refreshes_diagnostics(server.client_capabilities):
        server.workspace_diagnostic_refresh(None)


def _about_documents(server: Server) -> None:
    """What is opened, changed, saved and closed."""
    desk, publisher = server.desk, server.publisher

    def look(uri: str, delay: float) -> None:
        document = server.documents.of(uri)
        if document is not None:
            publisher.schedule(document, delay)

    def close(uri: str) -> None:
        left = server.documents.of(uri)
        if left is not None and left.is_notebook:  # what was closed is its text
            return
        desk.closed(uri)
        publisher.closed(uri)
        look(uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        look(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        look(params.text_document.uri, DELAY)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        desk.forget()
        _look_again(server)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        close(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        look(params.notebook_document.uri, 0)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        look(params.notebook_document.uri, DELAY)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(params: types.DidSaveNotebookDocumentParams) -> None:
        desk.forget()
        _look_again(server)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        close(params.notebook_document.uri)


def _about_findings(server: Server) -> None:
    """What is found, what can be done about it, and what else there is to say."""
    desk = server.desk

    async def checked(uri: str) -> Checked | None:
        document = server.documents.of(uri)
        found = await desk.checked(document) if document is not None else None
        return found if found is not None and uri in found.snapshot.parts else None

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, types.DiagnosticOptions(True, False, identifier="torchlint"))
    async def diagnose(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        uri = params.text_document.uri
        found = await checked(uri)
        if found is None or found.snapshot.is_notebook:  # of notebooks the findings are sent unasked
            return types.RelatedFullDocumentDiagnosticReport([])
        known = f"{found.snapshot.revision}.{desk.epoch}"
        if params.previous_result_id == known:
            return types.RelatedUnchangedDocumentDiagnosticReport(known)
        return types.RelatedFullDocumentDiagnosticReport(diagnostics(found)[uri], result_id=known)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(list(actions.KINDS), resolve_provider=True)
    )
    async def offer(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        found = await checked(uri)
        if found is None or not server.documents.is_current(found.snapshot):
            return []
        offered = list[types.CodeAction]()
        versioned = clients.takes_versions(server.client_capabilities)
        if actions.is_wanted(types.CodeActionKind.QuickFix.value, only):
            offered += actions.quick_fixes(found, uri, params.range, versioned=versioned)
        if (action := actions.fix_all(found, only)) is not None:
            if not clients.resolves_edits(server.client_capabilities):
                action = await _with_all_fixes(server, action)
            offered += [action] if action.edit is not None or action.data is not None else []
        return offered

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return action if action.data is None else await _with_all_fixes(server, action)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def tell(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        found = await checked(uri) if desk.options.hover and desk.options.enable else None
        if found is None:
            return None
        said = await desk.in_thread(lambda: hover(found, uri, params.position, desk.linter))
        if not said:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, said))


async def _with_all_fixes(server: Server, action: types.CodeAction) -> types.CodeAction:
    """The action that fixes all of a document, with what it edits, if that is anything."""
    desk = server.desk
    document = server.documents.of(str(action.data))
    action.data = None
    now = desk.snapshot(document) if document is not None else None
    result = await desk.fixed(now) if now is not None else None
    if now is None or result is None or result.after is None or not server.documents.is_current(now):
        return action
    found = Checked(now, server.documents.encoding)
    edits = found.edits_to(now.texts_in(result.after))
    versioned = clients.takes_versions(server.client_capabilities)
    action.edit = actions.workspace_edit(found, edits, versioned=versioned)
    return action

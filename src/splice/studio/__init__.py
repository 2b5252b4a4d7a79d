"""The studio: a local page on which somebody sees, labels, asks why and edits rules.

A server on this machine alone (:mod:`.serve`, :mod:`.security`) gives a page of plain ES modules
(``assets/``) columns and JSON (:mod:`.app`). Behind it is one :class:`~splice.studio.state.Studio`: a
:class:`~splice.active.session.LabelSession` whose answers are in a journal on disk (:mod:`.journal`)
before the next question is asked, and whose labels and rules are plain files (:mod:`.project`).
"""

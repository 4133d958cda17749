"""Vocabularies: from an event's activity, detail and flag to its token.

A `Specification` is what a file says (`specification.py`); `resolve` makes it a `Vocabulary`
(`vocabulary.py`), looking at the training split only where the file asks for that. The format of
the files is in `files.py`, how rules read a text in `rules.py`, what is learned in `fit.py`.
"""

from edsim.encoding.vocabulary.files import packaged_names
from edsim.encoding.vocabulary.specification import Specification, load
from edsim.encoding.vocabulary.vocabulary import Vocabulary

__all__ = ["Specification", "Vocabulary", "load", "packaged_names"]

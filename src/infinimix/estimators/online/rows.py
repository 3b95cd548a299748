"""What the rows of a stream are: text in any form, or a table; each with its learner.

An input reads rows without changing anything; `commit` keeps what a call has found (words,
categories) once nothing can fail any more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.answers.groups import typical_columns
from infinimix.estimators.common.state import layout_of
from infinimix.families.given import resolve_prior
from infinimix.families.words import MEAN, REDRAWN, REINFORCED, SAMPLED, WordRows
from infinimix.inference.online_crp.drawn_table_learner import DrawnTableLearner
from infinimix.inference.online_crp.learner import OnlineAnswers, OnlineSettings
from infinimix.inference.online_crp.table_learner import TableLearner
from infinimix.inference.online_crp.word_learner import WordLearner
from infinimix.tables import EncodedTable, Schema, encode, read_schema
from infinimix.tables.column import Novel, record_of
from infinimix.tables.documents import Documents, read_documents
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary

RULES = {  # logs, power of rarity, unit length; see `inference.weighting`
    "auto": (1.0, 0.5, 1.0),
    "counts": (0.0, 0.0, 0.0),
    "log": (1.0, 0.0, 1.0),
    "logidf": (1.0, 1.0, 1.0),
}
PRIORS = {"auto": 0.1, "counts": 0.5, "log": 0.1, "logidf": 0.1}
TOP = 10  # words that describe a class


class Read(NamedTuple):
    """Rows that were read, and what is new in them."""

    X: Any
    n_rows: int
    source: Any  # Documents or EncodedTable
    schema: Any = None  # of a table

    def part(self, first: int, last: int) -> Read:
        """Return some of the rows."""
        if (first, last) == (0, self.n_rows):
            return self
        if isinstance(self.X, WordRows):
            X: Any = WordRows(self.X.start[first : last + 1], self.X.word, self.X.weight)
            return self._replace(X=X, n_rows=last - first)
        rows, columns, values = self.source.novel
        here = np.flatnonzero((rows >= first) & (rows < last))
        novel = Novel(rows[here] - first, columns[here], [values[k] for k in here.tolist()])
        X = tuple(block[first:last] for block in self.X)
        return self._replace(X=X, n_rows=last - first, source=EncodedTable(self.schema, X, novel))


class TextInput:
    """Rows of words, with the vocabulary that they have brought."""

    def __init__(self, text: Text, max_features: int | None) -> None:
        self.text, self.max_features = text, max_features
        self.vocabulary = Vocabulary()

    def new_learner(
        self, settings: OnlineSettings, model: Any, seed: Any, read: Read
    ) -> WordLearner:
        """Return a learner that has learned nothing."""
        weighting = model.weighting
        prior = PRIORS[weighting] if isinstance(model.prior, str) else float(model.prior)
        form = REINFORCED if weighting == "counts" else MEAN
        form = {"sampled": SAMPLED, "redrawn": REDRAWN}.get(model.algorithm, form)
        return WordLearner(settings, prior, form, RULES[weighting], self.max_features, seed)

    def read(self, X: Any, who: str, lenient: bool = False) -> Read:
        """Read rows, with what is new in them."""
        found = read_documents(X, self.vocabulary, self.text, learn=True, who=who)
        return Read(WordRows(found.indptr, found.indices, found.data), found.n_rows, found)

    def blur(self, read: Read) -> Read:
        """Return rows in which all words without a column share the next one.

        Answers need no more of them, and no room for each.
        """
        if not len(read.source.novel):
            return read
        known, (start, word, weight), found = len(self.vocabulary), read.X, read.source
        X = WordRows(start, np.minimum(word, np.int32(known)), weight)
        cells = found.indptr, found.indices, found.data, found.unknown
        source = Documents(*cells, found.novel, known + 1, found.width, found.names)
        return Read(X, read.n_rows, source)  # both as `_replace` would, which takes 2 microseconds

    def prepare(self, learner: WordLearner, read: Read) -> None:
        """Make room for the words; that changes no answer."""
        start = read.X.start
        longest = int(start[-1] if read.n_rows == 1 else np.diff(start).max(initial=0))
        self.reserve(learner, read.source.n_columns, longest)

    def reserve(self, learner: WordLearner, n_columns: int, longest: int) -> None:
        """Make room for words up to this number, and for rows of so many."""
        if n_columns > learner.words or longest > learner.longest:
            learner.reserve_words(n_columns, longest)

    def run(self, learner: WordLearner, read: Read, *args: Any, **options: Any) -> OnlineAnswers:
        """Predict rows, and learn those whose class is told."""
        return learner.run(read.X, read.n_rows, *args, **options)

    def commit(self, learner: WordLearner, read: Read) -> None:
        """Keep what a call has found."""
        self.keep(learner, read.source.novel)

    def keep(self, learner: WordLearner, novel: Any) -> None:
        """Keep novel words; forget rare ones where there are too many."""
        self.vocabulary.extend(novel)
        most = self.max_features
        if most and self.text.hash_bits is None and len(self.vocabulary) > 2 * most:
            kept = learner.known_words()
            learner.keep_words(kept)
            self.vocabulary = self.vocabulary.keep(kept)

    def word(self, w: int) -> str:
        """Return a word by its number."""
        return f"#{w}" if self.text.hash_bits is not None else str(self.vocabulary.words[w])

    def describe(self, learner: WordLearner, c: int) -> dict[str, float]:
        """Return the words that are most typical of a class: share of it, beside that of all."""
        counts, everyone = learner.counts(c), learner.model.stats.n[:, 0]
        size = self.n_columns(learner)
        counts, everyone = counts[:size], everyone[:size]
        share = counts / max(counts.sum(), 1e-300)
        usual = (everyone + 0.1) / (everyone + 0.1).sum()
        gain = share * np.log(np.maximum(share, 1e-300) / usual)
        top = [w for w in np.argsort(-gain, kind="stable")[:TOP].tolist() if counts[w] > 0.0]
        return {self.word(w): float(share[w]) for w in top}

    def n_columns(self, learner: WordLearner) -> int:
        """Return how many words have a number."""
        return learner.words if self.text.hash_bits is not None else len(self.vocabulary)

    def example(self, read: Read, i: int) -> dict[str, Any]:
        """Return a row for the user to look at."""
        found: Documents = read.source
        part = slice(read.X.start[i], read.X.start[i + 1])
        pairs = zip(found.indices[part].tolist(), found.data[part].tolist(), strict=True)
        old = len(self.vocabulary)
        if self.text.hash_bits is not None:
            return {f"#{w}": x for w, x in pairs}
        words = self.vocabulary.words
        return {str(words[w] if w < old else found.novel[w - old]): x for w, x in pairs}

    def features(self, X: Any, read: Read) -> tuple[int | None, tuple[str, ...] | None]:
        """Return how many columns a matrix had, and their names."""
        return read.source.width, read.source.names


class TableInput:
    """Rows of a table of any kinds of columns but text."""

    def __init__(self, columns: Any) -> None:
        self.columns = columns
        self.schema: Schema | None = None

    def new_learner(
        self, settings: OnlineSettings, model: Any, seed: Any, read: Read
    ) -> TableLearner:
        """Return a learner that has learned nothing."""
        schema: Schema = read.schema
        layout = layout_of(schema)
        word = (
            "empirical" if isinstance(model.prior, str) and model.prior == "auto" else model.prior
        )
        prior = resolve_prior(word, schema.kinds(), schema.gaussian_blocks)
        form = TableLearner if model.algorithm == "collapsed" else DrawnTableLearner
        return form(settings, layout, prior, seed)

    def read(self, X: Any, who: str, lenient: bool = False) -> Read:
        """Read rows, with what is new in them; where it is lenient, they may lack columns."""
        schema = self.schema
        if schema is None:
            schema = read_schema(X, self.columns, stream=True)
        encoded = encode(schema, X, learn=True, who=who, lenient=lenient)
        return Read(encoded.blocks, encoded.n_rows, encoded, schema)

    def blur(self, read: Read) -> Read:
        """Return rows without the categories that are new: answers know nothing of them."""
        if not len(read.source.novel.rows):
            return read
        known = read.schema.category_counts
        X = tuple(
            np.where(block < known, block, -1).astype(block.dtype)
            if record_of(kind).has_categories
            else block
            for kind, block in zip(read.schema.blocks, read.X, strict=True)
        )
        return read._replace(X=X, source=EncodedTable(read.schema, X))

    def prepare(self, learner: TableLearner, read: Read) -> None:
        """Make room for the rows: there is."""

    def run(self, learner: TableLearner, read: Read, *args: Any, **options: Any) -> OnlineAnswers:
        """Predict rows, and learn those whose class is told."""
        return learner.run_novel(read.X, read.n_rows, read.source.novel, *args, **options)

    def commit(self, learner: TableLearner, read: Read) -> None:
        """Keep what a call has found."""
        self.schema = self.extended(read)

    def extended(self, read: Read) -> Schema:
        """Return the columns with what a call has found."""
        return read.schema.extended(read.source.novel)

    def describe(self, learner: TableLearner, c: int) -> dict[str, Any]:
        """Return a typical value of each column."""
        assert self.schema is not None
        columns = typical_columns(self.schema, learner.typical(c))
        return {name: column.tolist()[0] for name, column in columns.items()}

    def example(self, read: Read, i: int) -> dict[str, Any]:
        """Return a row for the user to look at."""
        schema = self.extended(read)
        columns = schema.decode([block[i : i + 1] for block in read.X])
        return {name: column.tolist()[0] for name, column in columns.items()}

    def features(self, X: Any, read: Read) -> tuple[int | None, tuple[str, ...] | None]:
        """Return how many columns a matrix had, and their names."""
        schema = read.schema
        return len(schema.inputs), schema.inputs if schema.named else None

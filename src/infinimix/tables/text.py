"""How a string becomes words: the options, and the tokeniser that follows them.

The steps are those of every bag of words: lower case, cut by a pattern, drop stop words, stem,
in this order. They are for strings only. Lists of words, dicts of counts and columns of matrices
are words already and are taken as they are.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.stemming import stem

__all__ = ["ENGLISH", "MOST_BITS", "Text"]

PATTERN = r"\w\w+"

#: Features are numbered by int32, and a model has an array as long as their number.
MOST_BITS = 30

_ENGLISH = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
himself she her hers herself it its itself they them their theirs themselves one
who whom whose which what where when why how there here
and or but if then than so as because while until though although whether nor
of to in on at by for from with into onto about between among through during before after
above below over under up down out off per via
am is are was were be been being have has had having do does did doing done
can could will would shall should may might must
all any both each every either some such other another same own more most much many few
also just only very too again ever now even still yet once
don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ll ve re
"""

#: The stop words of English: articles, pronouns, prepositions, conjunctions, forms of be, have
#: and do, modal verbs, and what the pattern leaves of contractions (don't, we'll). Words that
#: carry a subject or a mood (not, no, against, first, system) are not among them.
ENGLISH = frozenset(_ENGLISH.split())


@dataclass(frozen=True)
class Text:
    r"""How text becomes words.

    All but `hash_bits` is about strings: a list of words, a dict of counts or a matrix has words
    already, and they are taken as they are.

    Parameters
    ----------
    lower : bool
        Turn text into lower case first.
    stop_words : "english", iterable of strings, or None
        Words to leave out. "english" is a short list of function words (`ENGLISH` in
        `infinimix.tables.text`); negations are not in it. The words are compared after `lower`
        and before `stem`, and words that you give are put into lower case if text is.
    stem : bool
        Reduce English words to their stems by Porter's rules of 1980: connections, connected and
        connecting become connect.
    pattern : str
        The regular expression of a word. The default is that of scikit-learn, runs of two and
        more letters, digits and underscores of any script; r"[^\W\d_]{2,}" takes letters only,
        r"\S+" everything between blanks. Groups are written (?:...).
    hash_bits : int or None
        With None every word has a column of its own. With a number b from 1 to 30 each word goes
        to one of 2**b columns by a hash that is the same on every machine, so that memory does
        not grow with the number of words; words that share a column are counted together.

    Examples
    --------
    >>> from infinimix import Text
    >>> Text().tokens("It's 20 degrees, I'm told")
    ['it', '20', 'degrees', 'told']
    >>> Text(stop_words="english", stem=True).tokens("The connected and the connecting")
    ['connect', 'connect']
    """

    lower: bool = True
    stop_words: Literal["english"] | Iterable[str] | None = None
    stem: bool = False
    pattern: str = PATTERN
    hash_bits: int | None = None

    def __post_init__(self) -> None:
        for name in ("lower", "stem"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} of Text must be True or False; got {getattr(self, name)}")
        if self.stop_words is not None and self.stop_words != "english":
            object.__setattr__(self, "stop_words", _check_words(self.stop_words))
        _compile(self.pattern)
        _check_bits(self.hash_bits)

    @cached_property
    def _find(self) -> Callable[[str], list[str]]:
        return _compile(self.pattern).findall

    @cached_property
    def fold(self) -> bytes:
        """What each byte of a text becomes: a blank outside words, lower case if asked for.

        So words of the default pattern are what stands between blanks: of texts in ASCII as they
        are, of others once the pattern has cut them (their other bytes stay as they are).
        """
        return bytes(_place_of(chr(c), self.lower) for c in range(128)) + bytes(range(128, 256))

    @cached_property
    def fold_array(self) -> NDArray[np.uint8]:
        """The same, for compiled code."""
        return np.frombuffer(self.fold, np.uint8)

    @cached_property
    def compiled(self) -> bool:
        """Whether compiled code can cut texts: by the default pattern, and all words stay."""
        return self.pattern == PATTERN and not (self.stop_words or self.stem)

    @cached_property
    def _stops(self) -> frozenset[str]:
        if self.stop_words == "english":
            return ENGLISH
        words = self.stop_words or ()
        return frozenset(word.lower() for word in words) if self.lower else frozenset(words)

    @property
    def n_hashed(self) -> int | None:
        """The number of columns that words are hashed to, or None."""
        return None if self.hash_bits is None else 1 << self.hash_bits

    def tokens(self, document: str) -> list[str]:
        """The words of a string, in their order, each as often as it occurs.

        Parameters
        ----------
        document : str or list of str
            A text, or its words.
        """
        if self.pattern == PATTERN and document.isascii():
            parts = document.encode().translate(self.fold).decode().split()
            words = [word for word in parts if len(word) > 1]  # in half the time of the pattern
        else:
            words = self._find(document.lower() if self.lower else document)
        if self._stops:
            stops = self._stops
            words = [word for word in words if word not in stops]
        return list(map(stem, words)) if self.stem else words

    def state(self) -> dict[str, Any]:
        """The options as plain values, for files."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Text":
        """The options that `state` described.

        Parameters
        ----------
        state : dict
            What `get_state` of another one returned.
        """
        return cls(**state)

    def __getstate__(self) -> dict[str, Any]:
        return self.state()  # without what was compiled


def _check_words(words: Any) -> tuple[str, ...]:
    """The stop words in one order, so that options with the same words are equal."""
    if isinstance(words, str):
        raise ValueError(
            f'stop_words of Text must be "english", a list of words or None; got {words!r}'
        )
    try:
        listed = list(words)
    except TypeError:
        listed = [words]
    for word in listed:
        if not isinstance(word, str):
            raise TypeError(f"stop_words of Text must be strings; got {word!r}")
    return tuple(sorted(set(listed)))


def _place_of(character: str, lower: bool) -> int:
    """The code of an ASCII character within a word, in lower case if asked for; else of a blank."""
    inside = character.isascii() and (character.isalnum() or character == "_")
    return ord(character.lower() if lower else character) if inside else ord(" ")


def _compile(pattern: Any) -> re.Pattern[str]:
    if not isinstance(pattern, str):
        raise TypeError(f"pattern of Text must be a string; got {pattern!r}")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern of Text is not a regular expression: {error}") from None
    if compiled.groups:
        raise ValueError(f"pattern of Text has groups, write (?:...) for (...): {pattern!r}")
    if compiled.fullmatch(""):
        raise ValueError(f"pattern of Text takes nothing for a word: {pattern!r}")
    return compiled


def _check_bits(bits: Any) -> None:
    if bits is not None and (type(bits) is not int or not 1 <= bits <= MOST_BITS):
        raise ValueError(
            f"hash_bits of Text must be a whole number from 1 to {MOST_BITS}, or None; got {bits!r}"
        )

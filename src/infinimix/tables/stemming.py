"""The Porter stemmer: words of one root to one stem, by rules for suffixes of English.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, pages 130 to 137. The
rules are the published ones, not those of later programs of the same name ("bli" and "logi" have
none), with one addition that all these programs have: words of one or two letters stay as they
are ("as" would become "a").

A stem has the form [C](VC)^m[V], C and V being runs of consonants and of vowels; m is its
measure. Most rules ask that what is left of a word without the suffix has a measure of at least
one or two, so that short words keep their endings.
"""

from functools import lru_cache

__all__ = ["stem"]

Rule = tuple[str, str]

#: Step 2 and 3: suffixes of suffixes, replaced where m > 0.
DOUBLE: tuple[Rule, ...] = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
LATER: tuple[Rule, ...] = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"),
    ("ful", ""), ("ness", ""),
)  # fmt: skip

#: Step 4: suffixes dropped where m > 1.
DROPPED = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of an English word in lower case.

    Capitals, digits and letters with accents count as consonants and are in no suffix.

    Examples
    --------
    >>> from infinimix.tables.stemming import stem
    >>> [stem(word) for word in ("connect", "connected", "connecting", "connections")]
    ['connect', 'connect', 'connect', 'connect']
    >>> stem("generalizations"), stem("sky"), stem("happy")
    ('gener', 'sky', 'happi')
    """
    if len(word) <= 2:
        return word
    word = _undo_past(_undo_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _DOUBLE, 0)
    word = _replace(word, _LATER, 0)
    word = _replace(word, _DROPPED, 1)
    return _tidy(word)


def _form(word: str) -> str:
    """The letters as c and v; a y is a vowel after a consonant."""
    form = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and form.endswith("c"))
        form += "v" if vowel else "c"
    return form


def _measure(word: str) -> int:
    return _form(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _form(word)


def _ends_double(word: str) -> bool:
    """Whether a word ends with a double consonant: condition *d of the paper."""
    return word[-2:-1] == word[-1:] and _form(word).endswith("cc")


def _ends_short(word: str) -> bool:
    """Whether it ends consonant, vowel, consonant other than w, x, y: condition *o."""
    return _form(word).endswith("cvc") and word[-1] not in "wxy"


def _undo_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _undo_past(word: str) -> str:
    """Step 1b; where "ed" or "ing" went, the stem may need its ending back."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            root = word.removesuffix(suffix)
            return _mend(root) if _has_vowel(root) else word
    return word


def _mend(root: str) -> str:
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if _ends_double(root) and root[-1] not in "lsz":
        return root[:-1]
    return root + "e" if _measure(root) == 1 and _ends_short(root) else root


def _longest_first(rules: tuple[Rule, ...]) -> dict[str, tuple[Rule, ...]]:
    """Rules by the last letter of the suffix: of all that match, only the longest counts."""
    found: dict[str, tuple[Rule, ...]] = {}
    for rule in sorted(rules, key=lambda rule: -len(rule[0])):
        found[rule[0][-1]] = (*found.get(rule[0][-1], ()), rule)
    return found


_DOUBLE, _LATER = _longest_first(DOUBLE), _longest_first(LATER)
_DROPPED = _longest_first(tuple((suffix, "") for suffix in DROPPED))


def _replace(word: str, rules: dict[str, tuple[Rule, ...]], least: int) -> str:
    """Replace the longest suffix that has a rule, if the measure before it exceeds `least`."""
    for suffix, other in rules.get(word[-1:], ()):
        if word.endswith(suffix):
            root = word.removesuffix(suffix)
            allowed = suffix != "ion" or root.endswith(("s", "t"))
            return root + other if allowed and _measure(root) > least else word
    return word


def _tidy(word: str) -> str:
    """Step 5: a final e, and one of two final l."""
    if word.endswith("e"):
        root = word[:-1]
        measure = _measure(root)
        if measure > 1 or (measure == 1 and not _ends_short(root)):
            word = root
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word

"""The Porter stemmer against the examples of its paper, and what holds for any word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infinimix.tables import stemming
from infinimix.tables.stemming import stem

FEW = settings(max_examples=300, deadline=None)
ENDINGS = [""] + [s for s, _ in (*stemming.DOUBLE, *stemming.LATER)] + [*stemming.DROPPED]
ENDINGS += ["s", "es", "ies", "ed", "eed", "ing", "y", "ly", "ll", "e"]
WORDS = st.builds(
    lambda root, ends: root + "".join(ends),
    st.text("aeioubcdlmnrstxyz", max_size=6),
    st.lists(st.sampled_from(ENDINGS), max_size=3),
)

# The examples of the paper, each with its own step alone.
PLURAL = "caresses caress ponies poni ties ti caress caress cats cat"
PAST = (
    "feed feed agreed agree plastered plaster bled bled motoring motor sing sing conflated "
    "conflate troubled trouble sized size hopping hop tanned tan falling fall hissing hiss "
    "fizzed fizz failing fail filing file"
)
DOUBLE = (
    "relational relate conditional condition rational rational valenci valence hesitanci "
    "hesitance digitizer digitize conformabli conformable radicalli radical differentli "
    "different vileli vile analogousli analogous vietnamization vietnamize predication predicate "
    "operator operate feudalism feudal decisiveness decisive hopefulness hopeful callousness "
    "callous formaliti formal sensitiviti sensitive sensibiliti sensible"
)
LATER = (
    "triplicate triplic formative form formalize formal electriciti electric electrical electric "
    "hopeful hope goodness good"
)
DROPPED = (
    "revival reviv allowance allow inference infer airliner airlin gyroscopic gyroscop adjustable "
    "adjust defensible defens irritant irrit replacement replac adjustment adjust dependent "
    "depend adoption adopt homologou homolog communism commun activate activ angulariti angular "
    "homologous homolog effective effect bowdlerize bowdler"
)
TIDY = "probate probat rate rate cease ceas controll control roll roll"


def pairs(text):
    words = text.split()
    return list(zip(words[::2], words[1::2], strict=True))


@pytest.mark.parametrize(
    ("step", "examples"),
    [
        (stemming._undo_plural, PLURAL),
        (stemming._undo_past, PAST),
        (lambda word: stemming._replace(word, stemming._DOUBLE, 0), DOUBLE),
        (lambda word: stemming._replace(word, stemming._LATER, 0), LATER),
        (lambda word: stemming._replace(word, stemming._DROPPED, 1), DROPPED),
        (stemming._tidy, TIDY),
    ],
    ids=["1a", "1b", "2", "3", "4", "5"],
)
def test_each_step_has_the_examples_of_the_paper(step, examples):
    assert [(word, step(word)) for word, _ in pairs(examples)] == pairs(examples)


def test_measures_of_the_paper():
    for measure, words in enumerate(
        ["tr ee tree y by", "trouble oats trees ivy", "troubles private oaten orrery"]
    ):
        assert {stemming._measure(word) for word in words.split()} == {measure}


def test_whole_words():
    """The long examples of the paper's last page, and everyday words worked out by hand."""
    examples = (
        "generalizations gener oscillators oscil connection connect connective connect "
        "connections connect happy happi sky sky relativity rel universities univers "
        "running run flies fli dies di mules mule denied deni owned own humbled humbl "
        "meetings meet stating state itemization item traditional tradit reference refer "
        "colonizer colon plotted plot possibly possibli apologies apologi geology geologi "
        "caresses caress beautiful beauti multidimensional multidimension"
    )
    assert [(word, stem(word)) for word, _ in pairs(examples)] == pairs(examples)


@FEW
@given(WORDS)
def test_a_stem_is_no_longer_than_its_word_and_begins_like_it(word):
    found = stem(word)
    assert len(found) <= len(word)
    assert found[:1] == word[:1]
    assert found[:-1] == word[: max(len(found) - 1, 0)]  # only the last letter may be another


@FEW
@given(WORDS)
def test_a_regular_plural_has_the_stem_of_its_singular(word):
    if len(word) > 2 and not word.endswith(("s", "sse", "ie")):
        assert stem(word + "s") == stem(word)


@FEW
@given(WORDS)
def test_stems_of_stems_come_to_rest(word):
    """Not idempotent (see the example), but no rule makes a word longer in the end."""
    seen = [word]
    while stem(seen[-1]) not in seen:
        seen.append(stem(seen[-1]))
    assert stem(seen[-1]) == seen[-1]


def test_it_is_not_idempotent():
    assert (stem("databases"), stem("databas")) == ("databas", "databa")


@FEW
@given(st.text(max_size=8))
def test_any_string_has_a_stem(word):
    assert len(stem(word)) <= len(word)
    if len(word) <= 2 or (not word.isascii() and not any("a" <= c <= "z" for c in word)):
        assert stem(word) == word

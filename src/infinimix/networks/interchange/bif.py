"""Networks in files: the BIF text format and the JSON of the CPCS networks, plain or gzipped.

BIF as the bnlearn repository writes it: `variable` blocks with `type discrete`, `probability`
blocks with `table` or one line for each configuration of the parents, `default`, and properties,
which are skipped. Names may hold any character but blanks and the format's own punctuation.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import numpy as np

from infinimix.networks.interchange.network import BayesNet

TOKEN = re.compile(r'"[^"]*"|[{}()\[\];,|]|[^\s{}()\[\];,|"]+')
COMMENT = re.compile(r'("[^"]*")|//[^\n]*|/\*.*?\*/', re.S)  # none begins within quotes


def read_network(path: str | PathLike[str]) -> BayesNet:
    """Read a network from a file: `.bif` or `.json` (card, parents, cpt), each maybe with `.gz`.

    Parameters
    ----------
    path : str or path
        The file.
    """
    path = Path(path)
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8", "replace")
    try:
        return _from_json(text) if ".json" in path.suffixes else from_bif(text)
    except (ValueError, KeyError, IndexError, StopIteration) as error:
        raise ValueError(f"{path.name} is not a network that can be read: {error}") from error


def from_bif(text: str) -> BayesNet:
    """Return the network that a BIF text describes.

    Parameters
    ----------
    text : str
        The text.

    Examples
    --------
    >>> net = from_bif(
    ...     "network n { } variable a { type discrete [ 2 ] { no, yes }; } "
    ...     "probability ( a ) { table 0.25, 0.75; }"
    ... )
    >>> net.states, net.tables[0].tolist()
    ((('no', 'yes'),), [0.25, 0.75])
    """
    tokens = iter(TOKEN.findall(COMMENT.sub(lambda m: m.group(1) or " ", text)))
    states: dict[str, tuple[str, ...]] = {}
    blocks: list[tuple[list[str], list[str], list[str]]] = []
    for token in tokens:
        if token == "network":
            _body(tokens)
        elif token == "variable":
            name = next(tokens).strip('"')
            states[name] = _states(_body(tokens), name)
        elif token == "probability":
            blocks.append((*_heads(tokens), _body(tokens)))
    names = tuple(states)
    if not names:
        raise ValueError("this is not BIF text: it declares no variable")
    for children, given, _ in blocks:
        for name in (*children, *given):
            if name not in states:
                raise ValueError(f"a probability block names {name!r}, which is not a variable")
    place = {name: j for j, name in enumerate(names)}
    parents: list[tuple[int, ...]] = [()] * len(names)
    tables: list[np.ndarray | None] = [None] * len(names)
    for children, given, body in blocks:
        j = place[children[0]]
        parents[j] = tuple(place[p] for p in given)
        tables[j] = _table(body, [states[p] for p in given], states[children[0]], children[0])
    missing = [name for name, table in zip(names, tables, strict=True) if table is None]
    if missing:
        raise ValueError(f"no probabilities for {missing[:3]}")
    made = tuple(t for t in tables if t is not None)
    return BayesNet(names, tuple(states.values()), tuple(parents), made).check()


def _heads(tokens: Iterator[str]) -> tuple[list[str], list[str]]:
    """Return child and parents of a probability block: `( child | parent, parent )`."""
    parts: tuple[list[str], list[str]] = ([], [])
    side = 0
    for token in tokens:
        if token == ")":
            return parts
        if token == "|":
            side = 1
        elif token not in "(,":
            parts[side].append(token.strip('"'))
    raise ValueError("a probability block does not end")


def _body(tokens: Iterator[str]) -> list[str]:
    """Return the tokens of a block, without its outer braces."""
    depth, body = 0, list[str]()
    for token in tokens:
        if token == "{":
            depth += 1
            if depth == 1:
                continue
        if token == "}":
            depth -= 1
            if depth == 0:
                return body
        if depth:
            body.append(token)
    raise ValueError("a block does not end")


def _states(body: list[str], name: str) -> tuple[str, ...]:
    if "type" not in body or "{" not in body:
        raise ValueError(f"the variable {name!r} has no discrete type")
    inner = body[body.index("{") + 1 : body.index("}")]
    return tuple(token.strip('"') for token in inner if token != ",")


def _table(
    body: list[str], given: list[tuple[str, ...]], own: tuple[str, ...], name: str
) -> np.ndarray:
    table = np.full((*(len(s) for s in given), len(own)), np.nan)
    lookups = [{s: k for k, s in enumerate(names)} for names in given]
    lines, line = list[list[str]](), list[str]()
    for token in body:
        if token == ";":
            lines.append(line)
            line = []
        else:
            line.append(token)
    for line in lines:
        numbers = [t for t in line if t not in "(),"]
        if line[0] == "table":
            table[...] = np.array(numbers[1:], float).reshape(table.shape)
        elif line[0] == "default":
            fill = np.isnan(table)
            table[fill] = np.broadcast_to(np.array(numbers[1:], float), table.shape)[fill]
        elif line[0] == "(":
            at = tuple(look[t.strip('"')] for look, t in zip(lookups, numbers, strict=False))
            table[at] = np.array(numbers[len(given) :], float)
    if np.isnan(table).any():
        raise ValueError(f"the table of {name!r} is not complete")
    return table


def _from_json(text: str) -> BayesNet:
    raw = json.loads(text)
    cards, parents = raw["card"], tuple(tuple(p) for p in raw["parents"])
    tables = tuple(
        np.array(flat, float).reshape(*(cards[p] for p in held), cards[j])
        for j, (held, flat) in enumerate(zip(parents, raw["cpt"], strict=True))
    )
    names = tuple(raw.get("names") or (f"x{j}" for j in range(len(cards))))
    return BayesNet(names, tuple(tuple(map(str, range(r))) for r in cards), parents, tables).check()


def to_bif(net: BayesNet, name: str = "infinimix") -> str:
    """Return a network as BIF text; `from_bif` reads it back.

    Parameters
    ----------
    net : BayesNet
        The network.
    name : str
        Its name in the text.
    """
    lines = [f"network {name} {{", "}"]
    for variable, states in zip(net.names, net.states, strict=True):
        listed = ", ".join(map(_word, states))
        lines += [
            f"variable {_word(variable)} {{",
            f"  type discrete [ {len(states)} ] {{ {listed} }};",
            "}",
        ]
    for j, (parents, table) in enumerate(zip(net.parents, net.tables, strict=True)):
        own = _word(net.names[j])
        if not parents:
            lines += [f"probability ( {own} ) {{", f"  table {_numbers(table)};", "}"]
            continue
        lines.append(
            f"probability ( {own} | {', '.join(_word(net.names[p]) for p in parents)} ) {{"
        )
        for at in np.ndindex(*table.shape[:-1]):
            held = ", ".join(_word(net.states[p][k]) for p, k in zip(parents, at, strict=True))
            lines.append(f"  ({held}) {_numbers(table[at])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _word(text: str) -> str:
    if '"' in text:
        raise ValueError(f"BIF has no form for a name with a quotation mark: {text!r}")
    plain = TOKEN.fullmatch(text) and text[0] not in "{}()[];,|" and not COMMENT.search(text)
    return text if plain else f'"{text}"'


def _numbers(row: np.ndarray) -> str:
    return ", ".join(repr(float(x)) for x in row)

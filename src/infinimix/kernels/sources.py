"""What a source says by itself: what it does, what it imports, which operations it registers.

It is read and never run. Imports count wherever they stand, also within functions.
"""

import ast
import hashlib
import re

PACKAGE = __name__.partition(".")[0]
REGISTER = "implement", "default"  # see `dispatch`
STATEMENTS = "body", "orelse", "finalbody", "handlers", "cases"  # where statements hold statements
EVERYWHERE = "kernels/dispatch.py"  # known to all kernels


class SourceFile:
    """A file of the package.

    Parameters
    ----------
    name : str
        Its path within the package.
    text : bytes
        What is in it.
    known : dict of bytes
        The texts of all files.

    Attributes
    ----------
    digest : str
        A hash of what it does: comments, docstrings and line numbers do not count.
    imports : set of str
        The files that it imports something from.
    serves : set of str
        The files that know a class, or else an operation, for which it registers a body.
    """

    def __init__(self, name, text, known):
        tree = ast.parse(text)
        all_of_it = list(statements(tree))
        self.imports = set(find_imports(all_of_it, name, known)) - {name, None}
        registers = any(f".{word}".encode() in text for word in REGISTER)
        self.serves = set(find_served(tree, name, known)) if registers else set()
        for node in (tree, *all_of_it):
            drop_docstring(node)
        self.digest = hashlib.sha256(ast.dump(tree).encode()).hexdigest()


# --- what it does -------------------------------------------------------------------------------


def statements(node):
    """Yield all statements of a syntax tree, also those within others."""
    for field in STATEMENTS:
        below = getattr(node, field, ())
        for child in below if isinstance(below, list) else ():  # the body of a lambda is none
            yield child
            yield from statements(child)


def drop_docstring(node):
    """Remove the docstring of a module, class or function; a syntax tree has no comments.

    Bytecode would have neither, but from Python 3.13 on it has the lines of classes.
    """
    homes = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    if isinstance(node, homes) and ast.get_docstring(node, clean=False) is not None:
        del node.body[0]


# --- what it imports ----------------------------------------------------------------------------


def find_file(module, known):
    """Return the file of a module or package of ours, None if it is not known."""
    package, *parts = module.split(".")
    if package != PACKAGE:
        return None
    files = "/".join(parts) + ".py", "/".join([*parts, "__init__.py"])
    return next((file for file in files if file in known), None)


def find_home(module, member, known):
    """Return the file that a name is imported from: from a package, mostly a module in it."""
    return find_file(f"{module}.{member}", known) or find_file(module, known)


def find_module(module, level, name):
    """Return the full name of what a file imports from; `level` counts the dots before it."""
    if not level:
        return module
    above = [PACKAGE, *name.split("/")[:-1]]
    return ".".join([*above[: len(above) - level + 1], *filter(None, [module])])


def find_imports(nodes, name, known):
    """Yield the files that statements import something from."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            module = find_module(node.module, node.level, name)
            yield from (find_home(module, alias.name, known) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:  # of `import a.b`, a is at hand as well
                parts = alias.name.split(".")
                yield from (
                    find_file(".".join(parts[: end + 1]), known) for end in range(len(parts))
                )


# --- which operations it registers --------------------------------------------------------------


def find_served(tree, name, known):
    """Yield for each body the file of its class; if that is none of ours, that of the operation."""
    homes = dict(_find_names(tree, name, known))
    called = {id(node.func): node.args for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in REGISTER:
            operation = _home_of(node.value, homes, known) or EVERYWHERE
            classes = called.get(id(node), []) if node.attr == "implement" else []
            yield from [_home_of(cls, homes, known) or operation for cls in classes] or [operation]


def _find_names(tree, name, known):
    """Yield the names that a file imports or defines, each with a file and its name there."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name, (name, node.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = find_module(node.module, node.level, name)
            for alias in node.names:
                home = find_home(module, alias.name, known)
                yield alias.asname or alias.name, (home, alias.name)


def _home_of(node, homes, known):
    """Return the file that defines a name or a member of a module; None if it is not certain."""
    named = node.value if isinstance(node, ast.Attribute) else node
    home, name = homes.get(getattr(named, "id", None), (None, None))
    name = node.attr if isinstance(node, ast.Attribute) else name
    defines = home and re.search(rf"^(?:class|def) {name}\b".encode(), known[home], re.MULTILINE)
    return home if defines else None

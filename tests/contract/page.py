"""The family of CONTRIBUTING.md, "How to add a family": just the code that is on that page."""

import re
import sys
from pathlib import Path
from types import ModuleType

TEXT = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text("utf-8")
PAGE = TEXT.partition("## How to add a family")[2].partition("\n## ")[0]
CODE = "\n\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


def load_family() -> ModuleType:
    """Run the code of the page as a module."""
    module = ModuleType("family_of_the_page")
    sys.modules[module.__name__] = module
    exec(compile(CODE, "CONTRIBUTING.md", "exec"), module.__dict__)
    return module


family = load_family()

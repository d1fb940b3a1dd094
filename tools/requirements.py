"""Print the requirements of the named extras of pyproject.toml, one per line.

So that the versions stand in one place, and the tools can be installed before the package is built.
"""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
for extra in sys.argv[1:]:
    sys.stdout.write("\n".join(project["optional-dependencies"][extra]) + "\n")

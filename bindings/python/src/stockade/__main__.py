"""``python -m stockade`` is the program ``stockade``."""

from ._binary import main

main()

"""The provider that the environment names, for the real command: a plant's, or the honest one beneath it."""

from __future__ import annotations

import os

from tests.kit.bases import BASES
from tests.kit.plants import PLANTS

_name = os.environ["KIT_PLANT"]
PROVIDER = (PLANTS[_name].make() if _name in PLANTS else BASES[_name].make()).provider

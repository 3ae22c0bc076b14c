"""What the shared rooms need to know about PyTorch: its lowerings, and what its ops do to the flow of numbers."""

from __future__ import annotations

from gradproof.frontends.assemble.dialect import Dialect
from gradproof.frontends.missing.returned_none import returned_none
from gradproof.frontends.torch.kernels import kernel_of
from gradproof.frontends.torch.lower import LOWERINGS
from gradproof.frontends.torch.raised import raised
from gradproof.frontends.torch.roles import Roles
from gradproof.frontends.torch.spelling import spelled
from gradproof.frontends.torch.words import said

DIALECT = Dialect(LOWERINGS, Roles(), kernel_of, returned_none, raised=raised, said=said, spelled=spelled)

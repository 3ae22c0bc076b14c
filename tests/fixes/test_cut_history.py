"""The history of a state that an object keeps is cut where its method begins."""

from __future__ import annotations

from types import SimpleNamespace

from gradproof.fixes.kind import Fault
from gradproof.fixes.kinds import cut_history
from gradproof.ir.span import Span

MODEL = """import torch


class Filter(torch.nn.Module):
    def forward(self, chunk):
        \"\"\"One chunk.\"\"\"
        for sample in chunk:
            self.state = self.cell(sample, self.state)
            self.last = sample
        return self.out(self.state)


for chunk in stream:
    loss = model(chunk).sum()
    loss.backward()
"""


def test_a_state_in_an_attribute_is_cut_where_its_method_begins() -> None:
    call = SimpleNamespace(file="user.py", line=15)
    capture = SimpleNamespace(framework="torch", call=call)
    case = SimpleNamespace(sources={"user.py": MODEL}, capture=capture)
    fault = Fault(case, SimpleNamespace(span=Span("user.py", 8, 25)))  # type: ignore[arg-type]
    (fix,) = cut_history.offer(fault)
    assert [one for one in fix.patch.splitlines() if one[0] in "@+-"][2:] == [
        "@@ -6,0 +7 @@",
        "+        self.state = self.state.detach()",
    ]
    assert fix.changes_meaning

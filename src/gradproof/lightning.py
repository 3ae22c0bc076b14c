"""For Lightning: `GradientAudit`, a callback that audits the gradients of a training while it runs."""

from gradproof.plugins.lightning import LightningAudit as GradientAudit

__all__ = ["GradientAudit"]

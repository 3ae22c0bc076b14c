"""For the Trainer of Hugging Face: `GradientAudit`, a callback that audits a training while it runs."""

from gradproof.plugins.transformers import TransformersAudit as GradientAudit

__all__ = ["GradientAudit"]

"""For Keras: `GradientAudit`, a callback that audits the gradients of a training while it runs."""

from gradproof.plugins.keras import GradientAudit as GradientAudit

# Silent: the tolerance can be met, and the gradient fails it because it is wrong.
import numpy as np

import gradproof as gp

check = gp.gradient_check_numerical(np.sin, [0.1], gradient=[0.9], tolerance=1e-8)
print(check.verdict)

import numpy as np

import gradproof as gp

check = gp.gradient_check_numerical(np.sin, [1.0])
print(check.verdict)

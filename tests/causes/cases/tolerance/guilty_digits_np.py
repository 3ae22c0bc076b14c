import numpy as np

import gradproof as gp

check = gp.gradient_check_numerical(np.sin, [0.1], tolerance=1e-17)  #~ tolerance
print(check.verdict)

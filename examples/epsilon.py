"""A finite-difference check whose step is to blame, and not the gradient.

The smaller the step, the better the difference quotient? Only until rounding takes over: with a step of
1e-12 the two values differ in their last digits alone. The check knows how noisy the function is, says
which steps would do, and chooses one itself when none is given. Runs without any framework.
"""

import numpy as np

import gradproof as gp


def range_of_a_throw(angle):
    return 40.0**2 * np.sin(2.0 * angle) / 9.81


def by_hand(angle):
    return 2.0 * 40.0**2 * np.cos(2.0 * angle) / 9.81


too_small = gp.gradient_check_numerical(range_of_a_throw, [0.6], epsilon=1e-12)
print("epsilon 1e-12 ", too_small.verdict)

chosen = gp.gradient_check_numerical(range_of_a_throw, [0.6], gradient=by_hand)
print("epsilon chosen", chosen.verdict)

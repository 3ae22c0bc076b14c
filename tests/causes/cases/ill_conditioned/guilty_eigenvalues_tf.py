import tensorflow as tf

matrix = tf.Variable([[2.0, 1e-6], [1e-6, 2.0]])
with tf.GradientTape() as tape:
    values = tf.linalg.eigvalsh(matrix)  #~ ill-conditioned
    score = values[0] + 3.0 * values[1]
print(tape.gradient(score, matrix))

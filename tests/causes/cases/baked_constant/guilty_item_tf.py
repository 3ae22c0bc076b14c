import tensorflow as tf

settings = {"weight": 0.3}
x = tf.Variable([1.0, 2.0])


@tf.function
def energy():
    return tf.reduce_sum(x * x) * settings["weight"]  #~ baked-constant


energy()
settings["weight"] = 0.7
with tf.GradientTape() as tape:
    loss = energy()
print(tape.gradient(loss, x))

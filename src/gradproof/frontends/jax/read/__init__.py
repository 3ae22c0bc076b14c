"""From what was noted to the record of a gradient call: values, jaxprs run op by op, places, names."""

// Where the boxes of a graph stand: layers from top to bottom, few crossings, no overlaps.
// Vertices come in the order they ran, so most edges already point downwards. Linear in the size of the
// graph but for a few sweeps, since thousands of ops are common.

const BOX = { width: 148, height: 42, gapX: 18, gapY: 34 };
const SWEEPS = 6; // more sweeps hardly move anything

// `vertices` are {inputs: [index...]}. Returns x, y per vertex and the size of the whole. An edge from a
// later vertex to an earlier one (a loop, once its ops are gathered by line) does not push anything down.
function layoutGraph(vertices) {
  const n = vertices.length;
  const users = vertices.map(() => []);
  vertices.forEach((vertex, k) => vertex.inputs.forEach((from) => { if (from < k) users[from].push(k); }));
  const layer = layersOf(vertices, users);
  const rows = [];
  for (let k = 0; k < n; k++) (rows[layer[k]] ||= []).push(k);
  const above = vertices.map((vertex, k) => vertex.inputs.filter((from) => from < k));
  const x = new Float64Array(n);
  for (const row of rows) row.forEach((k, at) => { x[k] = (at - row.length / 2) * (BOX.width + BOX.gapX); });
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (let step = 0; step < rows.length; step++) {
      const row = rows[down ? step : rows.length - 1 - step];
      placeRow(row, down ? above : users, x);
    }
  }
  let left = Infinity, right = -Infinity;
  for (let k = 0; k < n; k++) { left = Math.min(left, x[k]); right = Math.max(right, x[k] + BOX.width); }
  const places = vertices.map((_, k) => ({
    x: x[k] - left + BOX.gapX,
    y: layer[k] * (BOX.height + BOX.gapY) + BOX.gapY / 2,
    layer: layer[k],
  }));
  return {
    places,
    rows,
    width: n ? right - left + 2 * BOX.gapX : 0,
    height: rows.length * (BOX.height + BOX.gapY),
  };
}

// The longest way from the top; what has no inputs moves down to just above its first user, or its edges
// would cross the whole picture.
function layersOf(vertices, users) {
  const layer = new Int32Array(vertices.length);
  vertices.forEach((vertex, k) => {
    for (const from of vertex.inputs) if (from < k) layer[k] = Math.max(layer[k], layer[from] + 1);
  });
  vertices.forEach((vertex, k) => {
    if (vertex.inputs.length || !users[k].length) return;
    let first = Infinity;
    for (const user of users[k]) first = Math.min(first, layer[user]);
    layer[k] = first - 1;
  });
  return layer;
}

// Each box wants to stand in the middle of its neighbours; boxes that want the same place share it out.
function placeRow(row, neighbours, x) {
  const wish = new Map(row.map((k) => {
    const others = neighbours[k];
    if (!others.length) return [k, x[k]];
    let sum = 0;
    for (const other of others) sum += x[other];
    return [k, sum / others.length];
  }));
  row.sort((a, b) => wish.get(a) - wish.get(b) || a - b);
  const pitch = BOX.width + BOX.gapX;
  let edge = -Infinity, shift = 0;
  for (const k of row) {
    x[k] = Math.max(wish.get(k), edge);
    edge = x[k] + pitch;
    shift += wish.get(k) - x[k];
  }
  shift /= row.length; // pushing goes to the right only; this brings the row back over its wishes
  for (const k of row) x[k] += shift;
}

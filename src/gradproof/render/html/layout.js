// Where the boxes of a graph stand: layers from top to bottom, few crossings, no overlaps.
// Vertices come in the order they ran, so most edges already point downwards. Linear in the size of the
// graph but for a few sweeps, since thousands of ops are common.

const BOX = { width: 148, widest: 320, height: 42, gapX: 18, gapY: 34 };
const LANE = 4; // the width of an edge that passes between the boxes of a layer
const LONGEST = 12; // layers; a longer edge is drawn straight, behind the boxes, or lanes would fill the picture
const SWEEPS = 6; // more sweeps hardly move anything
const DRIFT = 12; // rows on either side over which a drift is measured

// `vertices` are {inputs: [index...]}. Returns the place of each vertex, the rows of the layers, and for every
// edge ("from,to") the points it passes through. An edge from a later vertex to an earlier one (a loop, once
// its ops are gathered by line) does not push anything down. Boxes are as wide as they want to be, while a whole
// layer of them fits into the room.
function layoutGraph(vertices, wanted, room) {
  const n = vertices.length;
  const layer = layersOf(vertices);
  const box = Math.max(BOX.width, Math.min(wanted, BOX.widest, room / mostAlike(layer) - 2 * BOX.gapX));
  const above = vertices.map(() => []), below = vertices.map(() => []), width = vertices.map(() => box);
  const link = (from, to) => { above[to].push(from); below[from].push(to); };
  const lanes = new Map();
  vertices.forEach((vertex, k) => {
    for (const from of vertex.inputs) if (from < k) addLanes(from, k);
  });

  // One narrow vertex in each layer that the edge crosses keeps a way free for it.
  function addLanes(from, to) {
    const crossed = [];
    let last = from;
    if (layer[to] - layer[from] <= LONGEST) {
      for (let at = layer[from] + 1; at < layer[to]; at++) {
        crossed.push(width.length);
        layer.push(at);
        width.push(LANE);
        above.push([]);
        below.push([]);
        link(last, width.length - 1);
        last = width.length - 1;
      }
    }
    link(last, to);
    lanes.set(from + "," + to, crossed);
  }

  const rows = [];
  for (let k = 0; k < layer.length; k++) (rows[layer[k]] ||= []).push(k);
  const x = new Float64Array(layer.length);
  for (const row of rows) row.forEach((k, at) => { x[k] = (at - row.length / 2) * (box + BOX.gapX); });
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (let step = 0; step < rows.length; step++) {
      placeRow(rows[down ? step : rows.length - 1 - step], down ? above : below, width, x);
    }
  }
  straighten(rows, x);
  let left = Infinity, right = -Infinity;
  for (let k = 0; k < x.length; k++) {
    left = Math.min(left, x[k] - width[k] / 2);
    right = Math.max(right, x[k] + width[k] / 2);
  }
  const top = (k) => layer[k] * (BOX.height + BOX.gapY) + BOX.gapY / 2;
  const place = (k) => ({ x: x[k] - width[k] / 2 - left + BOX.gapX, y: top(k), layer: layer[k] });
  const bends = new Map();
  for (const [edge, crossed] of lanes) bends.set(edge, crossed.map(place));
  return {
    places: vertices.map((_, k) => place(k)),
    bends,
    box,
    rows: rows.map((row) => row.filter((k) => k < n)),
    width: n ? right - left + 2 * BOX.gapX : 0,
    height: rows.length * (BOX.height + BOX.gapY),
  };
}

// Each row follows the one before it, so a long program drifts sideways and scrolling down would leave it. The drift,
// a mean over the rows around, is taken away; it changes so slowly that neighbouring rows stay in line.
function straighten(rows, x) {
  const middle = rows.map((row) => row.reduce((sum, k) => sum + x[k], 0) / row.length);
  const total = [0];
  for (const each of middle) total.push(total.at(-1) + each);
  rows.forEach((row, at) => {
    const reach = Math.min(DRIFT, at, rows.length - 1 - at); // as far up as down, or a straight slope would bend
    const drift = (total[at + reach + 1] - total[at - reach]) / (2 * reach + 1);
    for (const k of row) x[k] -= drift;
  });
}

// The longest way from the top; what has no inputs moves down to just above its first user, or its edges
// would cross the whole picture.
function layersOf(vertices) {
  const layer = vertices.map(() => 0), first = vertices.map(() => Infinity);
  vertices.forEach((vertex, k) => {
    for (const from of vertex.inputs) if (from < k) layer[k] = Math.max(layer[k], layer[from] + 1);
  });
  vertices.forEach((vertex, k) => {
    for (const from of vertex.inputs) if (from < k) first[from] = Math.min(first[from], layer[k]);
  });
  vertices.forEach((vertex, k) => {
    if (!vertex.inputs.some((from) => from < k) && first[k] < Infinity) layer[k] = first[k] - 1;
  });
  return layer;
}

// How often the most frequent number occurs: the boxes of the fullest layer.
function mostAlike(numbers) {
  const found = [];
  for (const one of numbers) found[one] = (found[one] ?? 0) + 1;
  return found.reduce((most, n) => Math.max(most, n), 1);
}

// Each vertex wants to stand in the middle of its neighbours; those that want the same place share it out.
function placeRow(row, neighbours, width, x) {
  const wish = new Map(row.map((k) => {
    const others = neighbours[k];
    if (!others.length) return [k, x[k]];
    let sum = 0;
    for (const other of others) sum += x[other];
    return [k, sum / others.length];
  }));
  row.sort((a, b) => wish.get(a) - wish.get(b) || a - b);
  let edge = -Infinity, shift = 0;
  for (const k of row) {
    x[k] = Math.max(wish.get(k), edge + width[k] / 2);
    edge = x[k] + width[k] / 2 + BOX.gapX;
    shift += wish.get(k) - x[k];
  }
  shift /= row.length; // pushing goes to the right only; this brings the row back over its wishes
  for (const k of row) x[k] += shift;
}

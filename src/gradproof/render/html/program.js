// The captured program as a graph. Only what is in the window is drawn, so that thousands of ops stay quick;
// ops are gathered by source line until a reader opens a line. Text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const FEW = 40; // ops from which on lines are closed at first
const MOST_EDGES = 1500; // drawn at once; more are a grey cloud
const MOST_LISTED = 100; // buttons in a list; of more, the number says enough
const MARGIN = 200; // points around the window that are drawn too, so that scrolling shows no holes
const LETTER = 7; // the width of a letter in a box, roughly

function startProgram(root) {
  const data = JSON.parse(document.getElementById(root.dataset.program).textContent);
  const part = (name) => root.querySelector("." + name);
  const canvas = part("canvas"), side = part("side"), found = part("found");
  const nodes = data.id.map((id, k) => ({
    id,
    op: data.words[data.op[k]],
    type: data.words[data.type[k]],
    value: data.value[k],
    line: data.words[data.line[k]],
    name: data.words[data.name[k]],
    back: data.back[k] === 1,
    inputs: data.in[k],
  }));
  const indexOf = new Map(nodes.map((node, k) => [node.id, k]));
  for (const node of nodes) node.inputs = node.inputs.map((id) => indexOf.get(id)).filter((k) => k !== undefined);
  const users = nodes.map(() => []);
  nodes.forEach((node, k) => node.inputs.forEach((from) => users[from].push(k)));

  const state = { way: 0, opened: new Set(), constants: nodes.length <= FEW, selected: null, hits: new Set() };
  if (nodes.length <= FEW) for (const node of nodes) state.opened.add(lineKey(node));
  part("constants").checked = state.constants;
  part("way").hidden = data.ways.length < 2 || data.ways.every((way) => !way.guilty.length);
  let view = null; // boxes, edges and their places, as they are shown now

  function lineKey(node) { return node.line + (node.back ? " back" : ""); }
  function guilty() { return new Set(data.ways[state.way].guilty.map((id) => indexOf.get(id))); }
  function shareOf(ops) {
    const sum = ops.reduce((total, k) => total + (data.ways[state.way].shares[nodes[k].id] ?? 0), 0);
    return Math.abs(sum) < 0.005 ? "" : `${Math.round(100 * sum)} %`;
  }

  // A box is one op, or all ops of a line that is closed, in each direction. Leaves that are constants
  // only clutter: their values stand at the ops that use them.
  function build() {
    const marked = guilty(), boxes = [], boxOf = new Map(), groups = new Map();
    nodes.forEach((node, k) => {
      if (node.op === "constant" && !state.constants && !marked.has(k)) return;
      const key = lineKey(node);
      let box = state.opened.has(key) || !node.line ? null : groups.get(key);
      if (!box) {
        box = { ops: [], key, closed: !state.opened.has(key) && node.line !== "", inputs: new Set() };
        boxes.push(box);
        if (box.closed) groups.set(key, box);
      }
      box.ops.push(k);
      boxOf.set(k, box);
    });
    boxes.forEach((box, at) => { box.at = at; box.guilty = box.ops.some((k) => marked.has(k)); });
    for (const box of boxes) {
      for (const k of box.ops) for (const from of nodes[k].inputs) {
        const other = boxOf.get(from);
        if (other && other !== box) box.inputs.add(other.at);
      }
    }
    const longest = boxes.reduce((most, box) => Math.max(most, boxLabel(box).first.length), 0);
    const placed = layoutGraph(boxes.map((box) => ({ inputs: [...box.inputs] })), longest * LETTER + 32, canvas.clientWidth);
    const edges = [];
    for (const box of boxes) for (const from of box.inputs) {
      edges.push({ from, to: box.at, guilty: box.guilty && boxes[from].guilty });
    }
    edges.sort((a, b) => a.guilty - b.guilty); // the marked ones are drawn last, on top
    view = { boxes, boxOf, edges, ...placed };
    const size = { width: view.width, height: view.height, viewBox: `0 0 ${view.width} ${view.height}` };
    const picture = svg("svg", { ...size, role: "none" });
    picture.style.width = view.width + "px";
    canvas.replaceChildren(picture);
    paint();
  }

  // What lies in the window, and only that; on paper, all of it.
  function paint(onPaper = false) {
    const picture = canvas.firstChild, edge = onPaper ? Infinity : MARGIN;
    const top = canvas.scrollTop - edge, bottom = canvas.scrollTop + canvas.clientHeight + edge;
    const left = canvas.scrollLeft - edge, right = canvas.scrollLeft + canvas.clientWidth + edge;
    const drawn = [];
    for (const edge of view.edges) {
      if (drawn.length > MOST_EDGES) break;
      const a = view.places[edge.from], b = view.places[edge.to];
      if (Math.max(a.y, b.y) < top || Math.min(a.y, b.y) > bottom) continue;
      if (Math.max(a.x, b.x) + view.box < left || Math.min(a.x, b.x) > right) continue;
      drawn.push(drawEdge(a, b, edge, view.bends.get(edge.from + "," + edge.to) ?? []));
    }
    for (const box of view.boxes) {
      const at = view.places[box.at];
      if (at.y + BOX.height < top || at.y > bottom || at.x + view.box < left || at.x > right) continue;
      drawn.push(drawBox(box, at));
    }
    picture.replaceChildren(...drawn);
    const chosen = selectedBox();
    if (chosen) canvas.setAttribute("aria-activedescendant", boxId(chosen));
    else canvas.removeAttribute("aria-activedescendant");
  }

  function boxId(box) { return root.dataset.program + "box" + box.ops[0]; }
  function selectedBox() { return state.selected === null ? undefined : view.boxOf.get(state.selected); }

  // From the lower side of one box to the upper side of another, straight down through each lane on the way.
  function drawEdge(a, b, edge, lanes) {
    let x = a.x + view.box / 2, y = a.y + BOX.height, path = `M${x} ${y}`;
    const bendTo = (toX, toY) => {
      const bend = Math.min(Math.abs(toY - y) / 2, 60) || 20;
      path += `C${x} ${y + bend} ${toX} ${toY - bend} ${toX} ${toY}`;
    };
    for (const lane of lanes) {
      bendTo(lane.x + LANE / 2, lane.y);
      [x, y] = [lane.x + LANE / 2, lane.y + BOX.height];
      path += `V${y}`;
    }
    bendTo(b.x + view.box / 2, b.y);
    const kind = (edge.guilty ? " guilty" : "") + (b.y < a.y ? " return" : "");
    return svg("path", { d: path, class: "edge" + kind });
  }

  function drawBox(box, at) {
    const node = nodes[box.ops[0]], label = boxLabel(box);
    const isHit = box.ops.some((k) => state.hits.has(k)), letters = Math.floor(view.box / LETTER) - 1;
    const kind = (box.closed ? " line-group" : "") + (box.guilty ? " guilty" : "") + (isHit ? " hit" : "");
    const group = svg("g", {
      id: boxId(box),
      class: "box" + kind + (node.back ? " back" : ""),
      transform: `translate(${at.x} ${at.y})`,
      role: "option",
      "aria-selected": String(selectedBox() === box),
      "aria-label": label.spoken,
    });
    group.append(
      svg("rect", { width: view.box, height: BOX.height, rx: 6 }),
      svg("text", { x: 10, y: 17 }, cutText(label.first, letters - (box.guilty ? 3 : 0))),
      svg("text", { x: 10, y: 33, class: "second" }, cutText(label.second, letters - 1)),
    );
    if (box.guilty) group.append(svg("text", { x: view.box - 18, y: 17, class: "flag" }, "⚑"));
    group.addEventListener("click", () => {
      select(box.ops[0]);
      if (box.closed) toggle(box);
    });
    return group;
  }

  function boxLabel(box) {
    const node = nodes[box.ops[0]], way = box.guilty ? ", on the path of the fault" : "";
    const phase = node.back ? ", backward" : "";
    if (box.closed) {
      const file = node.line.split(/[\\/]/).pop(), ops = plural(box.ops.length, "op"), code = data.code[node.line];
      const place = code ? `${node.line.split(":").pop()}: ${code}` : file;
      const share = shareOf(box.ops) && `, ${shareOf(box.ops)}`;
      return { first: place, second: ops + (share || (node.back ? " backward" : "")), spoken: `${file}, ${code ? code + ", " : ""}${ops}${phase}, closed${way}` };
    }
    const called = node.name ? `${node.op} ${node.name}` : node.op;
    return { first: called, second: node.value || node.type, spoken: `${called}, ${node.value}${phase}${way}` };
  }

  function toggle(box) {
    if (state.opened.has(box.key)) state.opened.delete(box.key);
    else state.opened.add(box.key);
    rebuildAround(box.ops[0]);
  }

  // The op that a reader looks at stays where it is on the screen while the graph around it changes.
  function rebuildAround(k) {
    const before = view.boxOf.get(k) && view.places[view.boxOf.get(k).at];
    const dx = before ? before.x - canvas.scrollLeft : 40, dy = before ? before.y - canvas.scrollTop : 40;
    build();
    const box = view.boxOf.get(k);
    if (!box) return;
    const now = view.places[box.at];
    canvas.scrollTo(now.x - dx, now.y - dy);
    paint();
  }

  function select(k) {
    state.selected = k;
    if (!view.boxOf.has(k)) { state.constants = part("constants").checked = true; build(); }
    const box = view.boxOf.get(k);
    showDetails(box.closed && box.ops[0] === k ? box : null, k);
    bringIntoView(view.places[box.at]);
    paint();
  }

  function bringIntoView(at) {
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = canvas;
    if (at.y < scrollTop || at.y + BOX.height > scrollTop + clientHeight) canvas.scrollTop = at.y - clientHeight / 3;
    if (at.x < scrollLeft || at.x + view.box > scrollLeft + clientWidth) canvas.scrollLeft = at.x - clientWidth / 3;
  }

  function shareWords(ops) { return shareOf(ops) && shareOf(ops) + " of the error"; }

  // The op that was chosen, else what is to blame: that is what a reader looks for.
  function settle() {
    const box = selectedBox() ?? view.boxes.find((each) => each.guilty);
    canvas.scrollLeft = (view.width - canvas.clientWidth) / 2;
    if (box) bringIntoView(view.places[box.at]);
    paint();
  }

  function showDetails(box, k) {
    const node = nodes[k], anchor = data.anchors[node.line];
    const place = anchor ? element("a", node.line, { href: "#" + anchor }) : node.line || "no line of the user's";
    if (box) {
      side.replaceChildren(
        element("h4", data.code[node.line] || node.line),
        facts([["line", place], ["ops", String(box.ops.length)], ["phase", node.back ? "backward" : "forward"], ["share", shareWords(box.ops)]]),
        ...list("Ops of this line", box.ops),
      );
      return;
    }
    const rows = [
      ["value", node.value, "value"], ["type", node.type], ["line", place], ["phase", node.back ? "backward" : "forward"],
      ["share", shareWords([k])], ["marked", guilty().has(k) ? "on the path of the fault" : ""],
    ];
    side.replaceChildren(
      element("h4", node.name ? `${node.op} ${node.name}` : node.op),
      facts(rows),
      ...list("Inputs", node.inputs),
      ...list("Used by", users[k]),
    );
  }

  function list(title, ops) {
    if (!ops.length) return [];
    const items = ops.slice(0, MOST_LISTED).map((k) => {
      const node = nodes[k], item = element("li");
      const button = element("button", `${node.op}${node.name ? " " + node.name : ""}  ${node.value}`, { type: "button" });
      button.addEventListener("click", () => {
        if (node.line && !state.opened.has(lineKey(node)) && view.boxOf.get(k)?.ops.length > 1) {
          state.opened.add(lineKey(node));
          build();
        }
        select(k);
      });
      item.append(button);
      return item;
    });
    const lines = element("ul");
    lines.append(...items);
    const more = ops.length > MOST_LISTED ? [element("p", `and ${ops.length - MOST_LISTED} more`, { class: "faint" })] : [];
    return [element("h5", title), lines, ...more];
  }

  function search(text) {
    const words = text.trim().toLowerCase();
    const fits = (node) => `${node.op} ${node.name} ${node.value} ${node.line} ${node.type}`.toLowerCase().includes(words);
    state.hits = new Set(words ? [...nodes.keys()].filter((k) => fits(nodes[k])) : []);
    found.textContent = words ? `${plural(state.hits.size, "op")} found` : "";
    if (!state.hits.size) { paint(); return; }
    const ops = [...state.hits];
    side.replaceChildren(...list("Found", ops));
    const first = ops.find((k) => view.boxOf.has(k));
    if (first !== undefined) bringIntoView(view.places[view.boxOf.get(first).at]);
    paint();
  }

  // Up to an input, down to a user, sideways within the layer.
  function step(key) {
    const box = selectedBox() ?? view.boxes.find((each) => each.guilty) ?? view.boxes[0];
    if (!box) return;
    if (state.selected === null) { select(box.ops[0]); return; }
    const row = view.rows[view.places[box.at].layer], at = row.indexOf(box.at);
    const next = {
      ArrowUp: () => [...box.inputs][0],
      ArrowDown: () => view.boxes.find((each) => each.inputs.has(box.at))?.at,
      ArrowLeft: () => row[at - 1],
      ArrowRight: () => row[at + 1],
      Home: () => 0,
      End: () => view.boxes.length - 1,
    }[key]();
    if (next !== undefined) select(view.boxes[next].ops[0]);
  }

  canvas.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") step(event.key);
    else if ((event.key === "Enter" || event.key === " ") && selectedBox()?.key) toggle(selectedBox());
    else return;
    event.preventDefault();
  });
  let waiting = false;
  canvas.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  });
  part("find").addEventListener("input", (event) => search(event.target.value));
  part("chosen").addEventListener("change", (event) => { state.way = event.target.selectedIndex; build(); settle(); });
  part("constants").addEventListener("change", (event) => { state.constants = event.target.checked; build(); settle(); });
  part("open-all").addEventListener("click", () => { for (const node of nodes) state.opened.add(lineKey(node)); build(); settle(); });
  part("close-all").addEventListener("click", () => { state.opened.clear(); build(); settle(); });
  root.addEventListener("paper", () => paint(true));
  root.addEventListener("screen", () => paint());
  build();
  settle();
  root.dataset.ready = "true";
}

function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function facts(rows) {
  const made = element("dl");
  for (const [label, value, kind] of rows) {
    if (!value) continue;
    const shown = element("dd", undefined, kind ? { class: kind } : {});
    shown.append(value);
    made.append(element("dt", label), shown);
  }
  return made;
}

function cutText(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }
function plural(n, noun) { return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`; }

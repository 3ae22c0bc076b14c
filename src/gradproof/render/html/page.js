// What the page does beyond being read: theme, table, budget, links into closed parts, paper.
// Without this script everything but the graphs is still there.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// ---- light or dark: the system decides until the reader does; the choice outlives a reload where allowed ----

const theme = document.getElementById("theme");
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function remembered(value) {
  try { // a page opened from a file may have no storage
    if (value === undefined) return localStorage.getItem("gradproof-theme");
    localStorage.setItem("gradproof-theme", value);
  } catch { /* then the choice lasts as long as the page */ }
  return null;
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : systemIsDark.matches;
}
function showTheme() { // the button says what it does
  theme.setAttribute("aria-pressed", String(isDark()));
  theme.textContent = isDark() ? "Light theme" : "Dark theme";
}

if (["light", "dark"].includes(remembered())) document.documentElement.dataset.theme = remembered();
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  remembered(document.documentElement.dataset.theme);
  showTheme();
});
systemIsDark.addEventListener("change", showTheme);
showTheme();

// ---- the table: sort by a column, keep what fits ----

const table = document.getElementById("table");
if (table) {
  const bodies = [...table.tBodies]; // one for each call
  const rows = all("tr[data-verdicts]", table).map((row, at) => (
    { row, at, text: row.textContent.toLowerCase(), verdicts: row.dataset.verdicts.split(" ") }
  ));
  const total = rows.reduce((sum, { verdicts }) => sum + verdicts.length, 0);
  const find = document.getElementById("find"), show = document.getElementById("show");
  const shown = document.getElementById("shown");
  const counts = all(".counts button");

  function filter() {
    const words = find.value.trim().toLowerCase();
    let n = 0;
    for (const { row, text, verdicts } of rows) {
      const fitting = text.includes(words) ? verdicts.filter((each) => !show.value || each === show.value).length : 0;
      row.hidden = !fitting;
      n += fitting;
    }
    for (const body of bodies) body.hidden = all("tr[data-verdicts]", body).every((row) => row.hidden);
    const of = plural(total, "gradient");
    shown.textContent = n === total ? of : `${n.toLocaleString("en")} of ${of}`;
    for (const button of counts) {
      button.setAttribute("aria-pressed", String(button.dataset.verdict === show.value));
    }
  }

  function sort(column, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keys = rows.map(({ row, at }) => {
      const cell = row.cells[column], key = cell.dataset.sort ?? cell.textContent;
      return { row, at, key, number: key === "" ? NaN : Number(key) };
    });
    keys.sort((a, b) => {
      if ((a.key === "") !== (b.key === "")) return a.key === "" ? 1 : -1; // what is not known comes last
      const order = Number.isNaN(a.number - b.number) ? compare(a.key, b.key) : a.number - b.number;
      return (down ? -order : order) || a.at - b.at;
    });
    // Rows stay with their call, and the calls follow their first rows.
    const groups = new Map();
    for (const { row } of keys) {
      if (!groups.has(row.parentElement)) groups.set(row.parentElement, []);
      groups.get(row.parentElement).push(row);
    }
    for (const [body, sorted] of groups) body.append(...sorted);
    if (groups.size > 1) table.append(...groups.keys());
  }

  const { compare } = new Intl.Collator("en", { numeric: true });
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => sort(column, head));
  });
  find.addEventListener("input", filter);
  show.addEventListener("change", filter);
  for (const button of counts) {
    button.addEventListener("click", () => {
      show.value = show.value === button.dataset.verdict ? "" : button.dataset.verdict;
      filter();
    });
  }
}

// ---- the error budget beside the source: of which gradient ----

const budget = document.getElementById("budget");
if (budget) {
  const budgets = JSON.parse(document.getElementById("budgets").textContent);
  budget.addEventListener("change", () => {
    const lines = budgets[budget.value];
    for (const heat of all(".heat")) {
      const [words, part, ops] = lines[heat.parentElement.id] ?? ["", 0, ""];
      heat.textContent = words;
      heat.style.setProperty("--part", part);
      if (words) heat.title = `${words} of the error: ${ops}`;
      else heat.removeAttribute("title");
    }
  });
}

// ---- one program is shown at a time ----

const programs = document.getElementById("programs");
function showProgram(id) {
  if (!programs) return;
  programs.value = id;
  for (const each of all(".program")) each.hidden = each.id !== id;
}
if (programs) {
  programs.addEventListener("change", () => showProgram(programs.value));
  showProgram(programs.value);
}

// ---- a link may point into something closed ----

function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.classList.contains("program")) showProgram(target.id);
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// ---- graphs are made when they come near the window ----

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) startOnce(target);
}, { rootMargin: "300px" });
function startOnce(graph) {
  near.unobserve(graph);
  if (!graph.dataset.ready) startProgram(graph);
}
for (const graph of all(".graph")) near.observe(graph);

// ---- which section is being read ----

const links = new Map(all("body > header nav a").map((link) => [link.hash.slice(1), link]));
const sections = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    for (const [id, link] of links) {
      if (id === target.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
}, { rootMargin: "-20% 0px -70% 0px" });
for (const id of links.keys()) {
  const section = document.getElementById(id);
  if (section) sections.observe(section);
}

// ---- paper cannot be opened: everything is open while it is printed, and the graph drawn ----

const opened = new Set(); // a preview asks more than once before the paper is gone
addEventListener("beforeprint", () => {
  for (const graph of all(".program:not([hidden]) .graph")) {
    startOnce(graph);
    graph.dispatchEvent(new Event("paper"));
  }
  for (const each of all("details:not([open])")) {
    each.open = true;
    opened.add(each);
  }
});
addEventListener("afterprint", () => {
  for (const graph of all(".graph[data-ready]")) graph.dispatchEvent(new Event("screen"));
  for (const each of opened) each.open = false;
  opened.clear();
});

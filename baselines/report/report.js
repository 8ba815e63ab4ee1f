// The page's own script: rows that are explored, tables that are sorted and copied, drawings that tell their values.
// One module without a library, inlined as it stands. Texts of rows only ever become text nodes; what is hidden from
// the page (`--public`) is not in it.

const el = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
  return made;
};
const count = number => number.toLocaleString("en");
const pause = () => new Promise(resolve => setTimeout(resolve));

// --- Rows ------------------------------------------------------------------------------------------------------------

const LINE = 58; // pixels of a row of the list
const SPLIT = "\u001f"; // between what can be searched, a row's drawing and the number of its picture

async function unpacked(script) {
  const text = script.textContent;
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), c => c.charCodeAt(0));
  script.remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

class Explorer {
  constructor(place, index) {
    this.place = place;
    this.anchor = index.anchor;
    this.title = place.parentElement.querySelector("h2")?.textContent ?? "";
    this.index = index;
    this.rows = index.rows.map(([address, name, run, good, title, note, problem, facets], at) =>
      ({ at, address, name, run, good, title, note, problem, facets, line: null, text: "" }));
    this.byAddress = new Map(this.rows.map(row => [row.address, row]));
    this.cases = Map.groupBy ? Map.groupBy(this.rows, row => row.name) : this.rows.reduce((cases, row) =>
      cases.set(row.name, [...(cases.get(row.name) ?? []), row]), new Map());
    this.facets = index.facets.map((facet, at) => ({ ...facet, at, chosen: new Set() }));
    if (Object.keys(index.runs).length > 1)
      this.facets.unshift({ name: "run", values: Object.keys(index.runs), labels: index.runs, at: -1, chosen: new Set() });
    if (this.rows.some(row => row.good >= 0))
      this.facets.unshift({ name: "result", values: ["1", "0"], labels: { 1: index.marks[0], 0: index.marks[1] }, at: -2, chosen: new Set() });
    this.found = this.rows;
    this.chosen = null;
    this.beside = null;
    this.read = 0;
    this.build();
    this.filter();
  }

  // The values of a row in a facet, as places among the facet's values.
  values(row, facet) {
    if (facet.at === -1) return [facet.values.indexOf(String(row.run))];
    if (facet.at === -2) return row.good < 0 ? [] : [1 - row.good];
    return row.facets[facet.at];
  }

  build() {
    const id = `${this.anchor}-search`;
    this.search = el("input", { type: "search", id, placeholder: "Words in any text", autocomplete: "off", spellcheck: "false" });
    this.search.addEventListener("input", () => this.filter());
    this.status = el("p", { class: "small status-line", role: "status" });
    this.sheet = el("ol", { class: "sheet" });
    this.list = el("div", { class: "list", tabindex: "0", role: "region", "aria-label": `${this.title}: rows found; arrow keys choose one` }, this.sheet);
    this.list.addEventListener("scroll", () => this.draw(), { passive: true });
    this.detail = el("div", { class: "detail" });
    this.groups = this.facets.map(facet => this.group(facet));
    const clear = el("button", { type: "button", onclick: () => this.clear() }, "Clear");
    const facets = el("details", { class: "facets" }, el("summary", {}, "Filters"), ...this.groups, clear);
    facets.open = matchMedia("(min-width: 64rem)").matches;
    const keys = el("p", { class: "small keys" }, el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " or arrows: next and previous; ",
      el("kbd", {}, "b"), ": another run beside; ", el("kbd", {}, "/"), ": search");
    this.place.replaceChildren(
      el("div", { class: "ask" }, el("label", { for: id }, "Search"), this.search, this.status),
      el("div", { class: "panes" }, facets, this.list, this.detail), keys);
    this.place.hidden = false;
    this.place.addEventListener("keydown", event => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  group(facet) {
    const order = [...facet.values.keys()];
    if (facet.at >= 0) order.sort((one, other) => facet.values[one].localeCompare(facet.values[other], "en", { numeric: true }));
    facet.boxes = [];
    const lines = order.map(value => {
      const box = el("input", { type: "checkbox" });
      const number = el("span", { class: "count" });
      box.addEventListener("change", () => { facet.chosen[box.checked ? "add" : "delete"](value); this.filter(); });
      facet.boxes[value] = { box, number };
      const name = facet.labels ? facet.labels[facet.values[value]] : facet.values[value];
      return el("label", {}, box, el("span", {}, name), number);
    });
    const values = el("div", { class: "values", ...(lines.length > 7 ? { tabindex: "0", role: "group", "aria-label": facet.name } : {}) }, lines);
    return el("fieldset", {}, el("legend", {}, facet.name), values);
  }

  clear() {
    this.search.value = "";
    for (const facet of this.facets) {
      facet.chosen.clear();
      facet.boxes.forEach(({ box }) => { box.checked = false; });
    }
    this.filter();
  }

  // Which rows hold every word, and have one of the chosen values in every facet.
  filter() {
    const words = this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const said = words.length ? this.rows.filter(row => words.every(word => row.text.includes(word))) : this.rows;
    const fits = (row, facet) => !facet.chosen.size || this.values(row, facet).some(value => facet.chosen.has(value));
    this.found = said.filter(row => this.facets.every(facet => fits(row, facet)));
    for (const facet of this.facets) {
      const numbers = new Array(facet.values.length).fill(0);
      for (const row of said)
        if (this.facets.every(other => other === facet || fits(row, other)))
          for (const value of this.values(row, facet)) numbers[value] += 1;
      facet.boxes.forEach(({ number, box }, value) => {
        number.textContent = count(numbers[value]);
        box.parentElement.classList.toggle("none", !numbers[value]);
      });
    }
    const all = this.index.total > this.rows.length ? `${count(this.rows.length)} drawn of ${count(this.index.total)}` : count(this.rows.length);
    const reading = this.read < this.rows.length ? `; reading, ${Math.floor(100 * this.read / this.rows.length)} %` : "";
    this.status.textContent = `${count(this.found.length)} of ${all}${reading}`;
    this.list.scrollTop = 0;
    this.draw();
  }

  // Only the rows that are seen are in the document.
  draw() {
    const first = Math.max(0, Math.floor(this.list.scrollTop / LINE) - 4);
    const last = Math.min(this.found.length, Math.ceil((this.list.scrollTop + this.list.clientHeight) / LINE) + 4);
    this.sheet.style.height = `${this.found.length * LINE}px`;
    this.sheet.replaceChildren(...this.found.slice(first, last).map((row, at) => this.item(row, first + at)));
  }

  item(row, at) {
    const link = el("a", { href: this.address(row), "aria-current": row === this.chosen ? "true" : null },
      el("span", { class: "first" }, this.mark(row), el("strong", {}, row.title)),
      el("span", { class: "second" }, row.problem ? el("span", { class: "warn" }, `${row.problem} · `) : "", row.note));
    const item = el("li", { "aria-setsize": String(this.found.length), "aria-posinset": String(at + 1) }, link);
    item.style.top = `${at * LINE}px`;
    return item;
  }

  mark(row) {
    if (row.good < 0) return "";
    return el("span", { class: `status ${row.good ? "good" : "warn"}` }, el("span", { "aria-hidden": "true" }, row.good ? "✓ " : "✗ "),
      el("span", { class: "unseen" }, `${this.index.marks[1 - row.good]} `));
  }

  address(row) { return `#${this.anchor}/${row.address}`; }

  async choose(row, { focus = false } = {}) {
    this.chosen = row;
    this.beside = null;
    const at = this.found.indexOf(row);
    if (at >= 0) {
      const top = at * LINE;
      if (top < this.list.scrollTop || top + LINE > this.list.scrollTop + this.list.clientHeight)
        this.list.scrollTop = Math.max(0, top - this.list.clientHeight / 2);
    }
    this.draw();
    await this.show();
    if (focus) this.detail.querySelector("h3")?.focus({ preventScroll: true });
  }

  step(by) {
    if (!this.found.length) return;
    const at = this.found.indexOf(this.chosen);
    const to = this.found[Math.min(this.found.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    history.replaceState(null, "", this.address(to));
    this.choose(to);
  }

  key(event) {
    const field = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || (field && event.key !== "Escape")) return;
    const arrows = this.list.contains(event.target) ? { ArrowDown: () => this.step(1), ArrowUp: () => this.step(-1) } : {};
    const act = {
      j: () => this.step(1), k: () => this.step(-1), "/": () => this.search.focus(), Escape: () => this.list.focus(),
      b: () => this.compare(this.others()[0]), ...arrows,
    }[event.key];
    if (!act || (event.key === "b" && !this.others().length)) return;
    event.preventDefault();
    act();
  }

  // The same case in other runs and repetitions.
  others() { return this.chosen ? this.cases.get(this.chosen.name).filter(row => row !== this.chosen) : []; }

  compare(row) {
    this.beside = this.beside === row ? null : row ?? null;
    this.show();
  }

  async show() {
    const row = this.chosen;
    if (row.line === null) {
      this.detail.replaceChildren(el("p", { class: "soft" }, "Reading …"));
      await this.reading;
      if (row !== this.chosen) return;
    }
    const at = this.found.indexOf(row);
    const button = (name, act, off) => el("button", { type: "button", onclick: act, disabled: off }, name);
    const others = this.others();
    const select = el("select", { onchange: event => this.compare(this.byAddress.get(event.target.value)) },
      el("option", { value: "" }, "nothing"),
      others.map(other => el("option", { value: other.address, selected: other === this.beside }, this.called(other))));
    this.detail.replaceChildren(
      el("div", { class: "steps" }, button("Previous", () => this.step(-1), at <= 0), button("Next", () => this.step(1), at < 0 || at + 1 >= this.found.length),
        el("span", { class: "small" }, at < 0 ? "not among those found" : `${count(at + 1)} of ${count(this.found.length)}`),
        others.length ? el("label", { class: "small" }, "Beside it: ", select) : ""),
      el("div", { class: this.beside ? "two" : "one" }, this.entry(row), this.beside ? this.entry(this.beside) : ""));
    tips(this.detail);
  }

  called(row) {
    const run = this.index.runs[row.run] ?? "";
    const again = row.address.split("/")[2];
    return again ? `${run}, repetition ${again}` : run;
  }

  entry(row) {
    const [content, drawing, picture] = row.line.split(SPLIT);
    const [said, told, hides, drawn, alt] = JSON.parse(content);
    const hidden = hides ? told.pop() : null;
    const shape = el("template");
    shape.innerHTML = drawing; // an SVG that Bedside drew
    const run = this.index.runs[row.run];
    return el("article", { class: "shown" },
      el("h3", { tabindex: "-1" }, this.mark(row), row.title, " ", el("a", { href: this.address(row), class: "to", "aria-label": `Link to ${row.title}` }, "#")),
      el("p", { class: "small" }, [run, row.note].filter(Boolean).join(" · ")),
      row.problem ? el("p", { class: "small warn" }, row.problem) : "",
      picture ? this.picture(Number(picture), alt) : "",
      drawing ? el("figure", { class: "curves" }, el("div", { role: "group", "aria-label": drawn }, shape.content), el("figcaption", {}, drawn)) : "",
      told.length ? el("dl", {}, told.flatMap(fields)) : "",
      hidden ? el("details", { class: "thought" }, el("summary", {}, hidden[0]), el("ol", { class: "folded" }, [hidden[1]].flat().map(text => el("li", {}, text)))) : "",
      said.length ? el("ol", { class: "turns" }, said.map(utterance)) : "");
  }

  // The picture of that number, out of its piece, which is unpacked once.
  picture(number, alt) {
    const image = el("img", { alt });
    const piece = Math.floor(number / this.index.pictures);
    this.pictures[piece] = Promise.resolve(this.pictures[piece]).then(held => (held instanceof Element ? unpacked(held) : held));
    this.pictures[piece].then(text => { image.src = text.split("\n")[number % this.index.pictures]; });
    return image;
  }

  // Unpacks the rows piece by piece, between what the reader does.
  async unpack(pieces) {
    for (const piece of pieces) {
      const lines = (await unpacked(piece)).split("\n");
      for (const line of lines) {
        const row = this.rows[this.read++];
        row.line = line;
        row.text = `${row.title} ${row.note} ${row.name} ${texts(line)}`.toLowerCase();
      }
      await pause();
    }
    this.filter();
  }
}

// What can be searched in a row: its texts, without what only says how they are drawn.
function texts(line) {
  const [said, told, , drawn, alt] = JSON.parse(line.slice(0, line.indexOf(SPLIT)));
  const spoken = said.map(([who, text, , notes, folded]) => [who, notes, text, folded]);
  return [spoken, told.map(([name, text]) => [name, text]), drawn, alt].flat(3).join(" ");
}

function fields([name, text, tone, marks]) {
  const body = el("dd", { class: tone });
  if (Array.isArray(text)) body.append(el("ul", {}, text.map(line => el("li", {}, line))));
  else {
    let at = 0;
    const points = [...text]; // marks count characters as Python does
    marks.forEach(([start, end], number) => {
      body.append(points.slice(at, start).join(""), el("mark", {}, points.slice(start, end).join(""), el("sup", {}, String(number + 1))));
      at = end;
    });
    body.append(points.slice(at).join(""));
  }
  return [el("dt", {}, name), body];
}

function utterance([who, text, tone, notes, folded]) {
  return el("li", { class: tone }, el("span", { class: "who" }, [who, ...notes].join(" · ")),
    folded ? el("details", { class: "thought" }, el("summary", {}, "Reasoning, not heard by the other side"), el("p", {}, folded)) : "",
    el("p", {}, text || "(nothing)"));
}

const explorers = new Map();

async function explore(place) {
  const pieces = [...document.querySelectorAll(`script[data-rows="${place.dataset.explored}"]`)];
  const of = name => pieces.filter(piece => piece.dataset.piece === name);
  const explorer = new Explorer(place, JSON.parse(await unpacked(of("index")[0])));
  explorer.pictures = of("pictures");
  explorers.set(explorer.anchor, explorer);
  document.getElementById(`${explorer.anchor}-fixed`)?.setAttribute("class", "fixed off");
  explorer.reading = explorer.unpack(of("rows"));
  return explorer;
}

// A link to a row opens it, wherever it was followed from.
function follow(focus) {
  const [anchor, ...rest] = location.hash.slice(1).split("/");
  const explorer = explorers.get(anchor);
  const row = explorer?.byAddress.get(rest.join("/"));
  if (!row || row === explorer.chosen) return;
  explorer.choose(row, { focus });
  if (!focus) explorer.place.scrollIntoView({ block: "start" });
}

// --- Tables ----------------------------------------------------------------------------------------------------------

const written = cell => (cell.dataset.text ?? [...cell.childNodes].map(node => node.textContent).join(" ")).replace(/\s+/g, " ").trim();

function worth(cell) {
  if (!cell) return "";
  const value = cell.dataset.value ?? written(cell);
  const number = Number(String(value).replaceAll(",", "").replace("−", "-").replace(/^[+<±]\s*/, ""));
  return value === "" || Number.isNaN(number) ? String(value).toLowerCase() : number;
}

function sort(table, head) {
  const up = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  for (const body of table.tBodies) {
    const fixed = [...body.rows].filter(row => row.classList.contains("divider"));
    const rows = [...body.rows].filter(row => !row.classList.contains("divider"));
    const keyed = rows.map(row => [worth(row.cells[head.cellIndex]), row]);
    keyed.sort(([one], [other]) => {
      if (one === "" || other === "") return one === other ? 0 : one === "" ? 1 : -1; // nothing comes last
      const less = typeof one === typeof other ? (one < other ? -1 : one > other ? 1 : 0) : typeof one === "number" ? -1 : 1;
      return up ? less : -less;
    });
    body.replaceChildren(...fixed, ...keyed.map(([, row]) => row));
  }
}

// The lines of a table as texts, the first with the names of the columns, each behind that of its group.
function grid(table) {
  const lines = [...table.rows].filter(row => !row.classList.contains("divider"))
    .map(row => [...row.cells].flatMap(cell => new Array(cell.colSpan).fill(written(cell))));
  const width = Math.max(...lines.map(line => line.length));
  const heads = lines.splice(0, table.tHead.rows.length);
  const named = Array.from({ length: width }, (_, at) => [...new Set(heads.map(line => line[at]))].filter(Boolean).join(", "));
  return [named, ...lines.map(line => [...line, ...new Array(width - line.length).fill("")])];
}

const LATEX = "TEX"; // the page puts the table of printed.py here
const latex = text => (/^[[*]/.test(text) ? "{}" : "") + [...text].map(sign => LATEX[sign] ?? sign).join("");
const NUMBER = /^[+−-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/;
const FORMATS = {
  // Numbers as programs read them; and no cell may be a formula where the file is opened.
  CSV: lines => lines.map(line => line.map(text => {
    const cell = NUMBER.test(text) ? text.replaceAll(",", "").replace("−", "-") : text;
    const safe = /^[=+@＝＋－＠\t\r-]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }).join(",")).join("\n") + "\n",
  Markdown: lines => {
    const plain = lines.map(line => `| ${line.map(cell => cell.replace(/[\\`*_|<>[\]~]/g, "\\$&")).join(" | ")} |`);
    plain.splice(1, 0, `|${lines[0].map((_, at) => (at ? "---:|" : "---|")).join("")}`);
    return plain.join("\n") + "\n";
  },
  LaTeX: lines => {
    const plain = lines.map(line => line.map(latex).join(" & ") + " \\\\");
    plain.splice(1, 0, "\\midrule");
    return `\\begin{tabular}{l${"r".repeat(lines[0].length - 1)}}\n\\toprule\n${plain.join("\n")}\n\\bottomrule\n\\end{tabular}\n`;
  },
};

async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  said.textContent = "copied";
  setTimeout(() => { said.textContent = ""; }, 2000);
}

function tools(region) {
  const table = region.querySelector("table");
  if (!table.classList.contains("matrix") && table.tHead && [...table.tBodies].some(body => body.rows.length > 1))
    for (const head of table.tHead.rows[table.tHead.rows.length - 1].cells) {
      const name = head.textContent.trim();
      const button = el("button", { type: "button", class: "sort", "aria-label": `Sort by ${name}` });
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head));
      head.append(button);
    }
  const said = el("span", { role: "status" });
  const hint = el("span", { class: "hint", hidden: true }, "more columns: scroll sideways →");
  const name = table.caption?.textContent.trim() ?? "table";
  const buttons = Object.entries(FORMATS).map(([format, make]) =>
    el("button", { type: "button", "aria-label": `Copy ${name} as ${format}`, onclick: () => copy(make(grid(table)), said) }, format));
  region.after(el("div", { class: "tools small" }, hint, el("span", {}, "Copy as "), buttons, said));
  const look = () => {
    hint.hidden = region.scrollWidth <= region.clientWidth + 1;
    hint.classList.toggle("end", region.scrollLeft + region.clientWidth >= region.scrollWidth - 2);
  };
  region.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(region);
}

// --- Drawings and contents ---------------------------------------------------------------------------------------------

const tip = el("div", { id: "tip", hidden: true, "aria-hidden": "true" });

function tips(within) {
  for (const part of within.querySelectorAll(".told")) {
    const show = () => {
      const [title, ...rest] = part.getAttribute("aria-label").split(/: (.*)/s);
      tip.replaceChildren(el("strong", {}, title), ...(rest[0] ?? "").split("; ").map(line => el("div", {}, line)));
      tip.hidden = false;
      const { left, right, top, bottom } = part.getBoundingClientRect();
      const { width, height } = tip.getBoundingClientRect();
      tip.style.left = `${Math.max(4, Math.min((left + right - width) / 2, document.documentElement.clientWidth - width - 4))}px`;
      tip.style.top = `${bottom + height + 8 > innerHeight ? top - height - 6 : bottom + 6}px`;
    };
    part.addEventListener("pointerenter", show);
    part.addEventListener("focus", show);
    for (const leaving of ["pointerleave", "blur"]) part.addEventListener(leaving, () => { tip.hidden = true; });
  }
}

function contents() {
  const links = new Map([...document.querySelectorAll("nav.contents a")].map(link => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) {
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(target.getAttribute("aria-labelledby"))?.setAttribute("aria-current", "true");
      }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const section of document.querySelectorAll("main > section")) seen.observe(section);
}

document.body.append(tip);
document.addEventListener("keydown", event => { if (event.key === "Escape") tip.hidden = true; });
addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
if ("DecompressionStream" in window)
  for (const place of document.querySelectorAll("[data-explored]")) await explore(place);
addEventListener("hashchange", () => follow(true));
if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
follow(false);
await pause();
tips(document);
contents();
for (const region of document.querySelectorAll(".scroll")) {
  if (!region.closest(".matrix")) tools(region);
}
document.documentElement.dataset.ready = "";
await Promise.all([...explorers.values()].map(explorer => explorer.reading));
document.documentElement.dataset.read = "";

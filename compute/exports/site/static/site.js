"use strict";
// Every text goes into the document as a text node: nothing of the data is ever markup.
const beirscope = (() => {
  const waiting = new Map(), page = document.body.dataset.page;
  const narrow = matchMedia("(max-width: 599px)"), dark = matchMedia("(prefers-color-scheme: dark)");
  let site, titles, turn = 0;

  // Data comes as scripts, for a browser opens no local file of another kind.
  function script(file) {
    return new Promise((done, failed) => {
      const one = document.createElement("script");
      one.src = file;
      one.onload = () => done();
      one.onerror = () => failed(new Error(`${file} cannot be read: is the folder whole?`));
      document.head.append(one);
    });
  }
  function piece(name) {
    if (!waiting.has(name)) {
      let give;
      const came = new Promise(done => { give = done; });
      const asked = script(`data/${name}.js`).then(() => came);
      asked.catch(() => waiting.delete(name));
      waiting.set(name, { asked, give });
    }
    return waiting.get(name).asked;
  }
  const put = (name, content) => waiting.get(name)?.give(content);
  let drawer;
  const plotly = () => drawer ??= script("plotly.js");

  function el(name, given = {}, ...inside) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(given)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value === true) made.setAttribute(key, "");
      else if (value !== false && value != null) made.setAttribute(key, value);
    }
    made.append(...inside.flat(2).filter(one => one != null && one !== false && one !== "")
      .map(one => one instanceof Node ? one : String(one)));
    return made;
  }

  // Choices are in the address, so that it opens the same view elsewhere.
  const chosen = () => new URLSearchParams(location.hash.slice(1));
  const address = (of, given) => {
    const kept = Object.entries(given).filter(([, value]) => value != null && value !== "");
    return `${of}.html#${new URLSearchParams(kept)}`;
  };
  function choose(given) {
    const now = chosen();
    for (const [key, value] of Object.entries(given)) now.set(key, value);
    location.hash = now.toString();
  }
  const among = (key, known, usual) => known.includes(chosen().get(key)) ? chosen().get(key) : usual;

  // What one drawing of the page collects: its pickers, and the figures to draw once they stand.
  function field(on, label, made, short) {
    on.fields.push(el("label", { class: short ? "short" : null }, label, made));
  }
  function pick(on, key, label, options, usual = options[0]?.[0]) {
    const value = among(key, options.map(([one]) => one), usual), asked = chosen().get(key);
    if (asked && asked !== value) {
      const words = options.find(([one]) => one === value)?.[1] ?? value ?? "nothing";
      on.lacking.push(`${label}: ${asked} is not on this page; ${words} is shown instead.`);
    }
    const select = el("select", { name: key, onchange: event => choose({ [key]: event.target.value }) },
      options.map(([one, words]) => el("option", { value: one, selected: one === value }, words ?? one)));
    field(on, label, select, key === "measure");
    return value;
  }
  const title = name => titles.get(name) ?? name;

  function table(columns, rows, { caption, tall, sortable } = {}) {
    const body = el("tbody");
    const fill = some => body.replaceChildren(...some.map(row => el("tr", {}, row.map((cell, at) =>
      el(at ? "td" : "th", { class: columns[at].class, scope: at ? null : "row" }, cell)))));
    const order = at => event => {
      const head = event.target.closest("th"), up = head.getAttribute("aria-sort") === "descending";
      head.parentNode.querySelectorAll("th").forEach(one => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = row => { const words = el("i", {}, row[at]).textContent; const n = parseFloat(words.replace("−", "-")); return isNaN(n) ? words : n; };
      const than = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? 1 : -1;
      fill([...rows].sort((a, b) => (up ? 1 : -1) * than(key(a), key(b))));
    };
    fill(rows);
    const heads = columns.map((one, at) => el("th", { scope: "col", class: one.class },
      sortable ? el("button", { class: "sort", type: "button", onclick: order(at) }, one.name) : one.name));
    const made = el("table", {}, caption && el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body);
    return el("div", { class: tall ? "aside tall" : "aside", tabindex: 0, role: "region", "aria-label": caption ?? "Table" }, made);
  }
  const plain = (columns, rows, options) => table(columns.map(name => ({ name })), rows, options);
  const later = (words, make) => {
    const made = el("details", {}, el("summary", {}, words));
    made.addEventListener("toggle", async () => {
      if (made.open && made.children.length === 1) made.append(...[await make()].flat());
    });
    return made;
  };

  async function draw(place, spec, height) {
    await plotly();
    const look = site.looks[dark.matches ? "dark" : "light"];
    const { data, layout } = spec(look);
    const at = { ...layout, template: look.template };
    place.style.minHeight = `${at.height ?? height}px`;
    await Plotly.react(place, data, at, { displayModeBar: false, responsive: true });
  }
  function lines(list) {
    return el("ol", { class: "ranked", "aria-label": list.title }, list.rows.map(([rank, name, said]) =>
      el("li", {}, el("span", { class: "rank" }, rank ? `${rank}.` : ""), el("span", { class: "name" }, name), el("span", { class: "value" }, said))));
  }
  // A figure; where the screen is narrow the same as ranked lists; and its numbers as a table.
  function figure(on, one) {
    const place = el("div", { class: "figure", role: "img", "aria-label": one.title });
    const spec = () => structuredClone(dark.matches ? one.dark : one.light);
    const wide = el("div", { class: "wide" }, place), small = el("div", { class: "narrow" });
    const redraw = () => { if (place.isConnected && !narrow.matches) draw(place, spec); };
    on.drawn.push(redraw);
    if (one.lists.length) {
      const list = el("div", {}, lines(one.lists[0]));
      const options = one.lists.map((each, at) => el("option", { value: at }, each.title));
      const change = event => list.replaceChildren(lines(one.lists[event.target.value]));
      if (one.lists.length > 1) small.append(el("label", {}, `${one.of} `, el("select", { onchange: change }, options)));
      small.append(list);
    }
    const several = one.lists.length > 1;
    const rows = () => one.lists.flatMap(each => each.rows.map(row => several ? [each.title, ...row.map(x => x ?? "")] : row.map(x => x ?? "")));
    const heads = [...(several ? [one.of] : []), "Rank", one.name, "Value"];
    return el("section", { "aria-label": one.title }, el("h2", {}, one.title), wide, small,
      one.notes[0] && el("p", { class: "note" }, one.notes[0]),
      one.notes.length > 1 && later("How to read this", () => one.notes.slice(1).map(words => el("p", { class: "note" }, words))),
      one.lists.length > 0 && later("Numbers", () => plain(heads, rows(), { caption: one.title, tall: true })));
  }
  const provenance = (sets, measure, printed) => el("section", {}, el("h2", {}, "How these numbers were made"),
    printed && el("p", {}, `Typed from ${printed} (${site.made.in_print[printed] ?? "in print"}).`),
    sets.length > 0 && el("p", {}, `Judgements: ${site.made.judgements}. Measure: ${[...new Set([measure, site.made.measures[measure]])].join(", ")}.`),
    sets.length > 8 ? later(`On ${sets.length} datasets`, () => sets.map(runs)) : sets.map(runs));
  const runs = set => later(set.title, async () => {
    const made = await piece(`made-${set.place}`);
    return [
      plain(made.runs.columns, made.runs.rows, { caption: `Runs on ${set.title}`, tall: true }),
      plain(made.collections.columns, made.collections.rows, { caption: `Where ${set.title} comes from` }),
      el("h3", {}, "Commands that make it again"), el("pre", { tabindex: 0 }, made.shell),
      later("All that is known, as JSON", () => el("pre", { tabindex: 0 }, JSON.stringify(made.record, null, 1))),
    ];
  });

  const usual = (options, wanted) => options.includes(wanted) ? wanted : options[0];
  function pickSet(on, sets) {
    const name = pick(on, "dataset", "Dataset", sets.map(one => [one.name, one.title]));
    return sets.find(one => one.name === name);
  }
  function pickMeasure(on, set) {
    const known = set.measures.map(one => one.measure);
    const name = pick(on, "measure", "Measure", known.map(one => [one]), usual(known, "nDCG@10"));
    return set.measures.find(one => one.measure === name);
  }
  const nothing = () => [el("p", {}, "No computed scores are on this site: the Leaderboard has the tables in print.")];

  async function index(on) {
    if (!site.boards.length) return [el("p", {}, "No dataset of this site has a score by its measures.")];
    const sources = [...new Set(site.boards.map(one => one.source))];
    const source = pick(on, "table", "Numbers", sources.map(one => [one, one || "Computed here"]));
    const own = site.boards.filter(one => one.source === source), known = own.map(one => one.measure);
    const measure = pick(on, "measure", "Measure", known.map(one => [one]), usual(known, "nDCG@10"));
    const board = await piece(own.find(one => one.measure === measure).piece);
    const less = ["First in", "Group", "Datasets", "Hole@10"];
    const heads = board.table.columns.map(name => ({ name, class: less.includes(name) ? "less" : "line" }));
    const sets = new Map(site.datasets.map(one => [one.name, one]));
    const cell = (set, one) => one === null ? "–" : [
      el("span", { class: one.best ? "best" : null }, source || !sets.has(set) ? one.value : el("a", { href: address("dataset", { dataset: set, measure }) }, one.value)),
      one.said.map(words => el("span", { class: "under" }, words))];
    const matrix = () => table([{ name: "System" }, ...board.matrix.titles.map(name => ({ name }))],
      board.matrix.rows.map(row => [row.title, ...row.cells.map((one, at) => cell(board.matrix.datasets[at], one))]),
      { caption: `${board.origin}: ${measure}`, tall: true, sortable: true });
    const values = later(source ? "As printed" : "With its interval and holes", matrix);
    values.open = !source && !narrow.matches;
    return [
      board.said && el("p", { class: "said" }, board.said),
      figure(on, board.heatmap),
      el("h2", {}, "Every value"), values,
      board.order && figure(on, board.order),
      el("h2", {}, "Systems in order"),
      table(heads, board.table.rows, { caption: `Order by ${measure}`, sortable: true, tall: board.table.rows.length > 25 }),
      provenance(source ? [] : site.datasets, measure, source),
    ];
  }

  async function dataset(on) {
    if (!site.datasets.length) return nothing();
    const set = pickSet(on, site.datasets), { measure, piece: name } = pickMeasure(on, set);
    const found = await piece(`dataset-${name}`);
    const facts = [set.task, set.domain, set.language, `split ${set.split}`, `licence: ${set.licence}`];
    const link = row => el("a", { href: address("compare", { dataset: set.name, measure, a: row.system, b: usual(found.rows.map(one => one.system).filter(one => one !== row.system), "bm25") }) }, row.title);
    const heads = [{ name: "System" }, { name: measure, class: "number" }, { name: "95% interval", class: "line" }, { name: "Holes", class: "number" },
      { name: `Above ${found.against}`, class: "number less" }, { name: "Below it", class: "number less" }, { name: "Queries", class: "number less" }];
    return [
      found.said && el("p", { class: "said" }, found.said),
      el("p", { class: "note" }, `${set.title}: ${facts.join(" · ")}. `, /^https?:/.test(set.homepage) && el("a", { href: set.homepage, rel: "noreferrer" }, "Its page")),
      figure(on, found.figure),
      el("h2", {}, "Systems"),
      table(heads, found.rows.map(row => [found.rows.length > 1 ? link(row) : row.title, row.value, row.interval, row.holes, row.above, row.below, row.n]),
        { caption: `${measure} on ${set.title}; holes: share of the top 10 that nobody judged`, sortable: true }),
      provenance([set], measure),
    ];
  }

  const turned = words => words.replace(/^[+−]/, sign => sign === "+" ? "−" : "+");
  // What is known of two systems, in whichever order they are asked for.
  function compared(found, a, b) {
    const row = found.pairs.find(([one, other]) => (one === a && other === b) || (one === b && other === a));
    if (!row) return null;
    const [one, , gap, low, high, p, all, n, first, second] = row;
    return one === a ? { gap, low, high, p, all, n, first, second }
      : { gap: turned(gap), low: turned(high), high: turned(low), p, all, n, first: second, second: first };
  }
  function verdict(found, pair, a, b) {
    const sign = { "+": 1, "−": -1 }[pair.gap[0]] ?? 0, ahead = sign * found.better;
    const sure = pair.low[0] === pair.high[0] && "+−".includes(pair.low[0]);
    const [first, second] = ahead < 0 ? [b, a] : [a, b];
    const words = !ahead ? `${a} and ${b} are level.` : sure ? `${first} is better than ${second}.` : `${first} is ahead of ${second}, which may be chance.`;
    const all = pair.all && `; ${pair.all} by the randomisation test, corrected for all ${found.pairs.length} pairs of systems here`;
    return [el("p", { class: "said" }, words), el("p", {},
      `${a} − ${b}: ${pair.gap}, 95% interval ${pair.low} to ${pair.high}; ${pair.p} by the t-test${all}. Of ${pair.n} queries ${a} is better on ${pair.first}, ${b} on ${pair.second}.`)];
  }
  const shortly = words => words.length > 60 ? `${words.slice(0, 59)}…` : words;
  // Text in Plotly is a small HTML.
  const escaped = words => shortly(words).replace(/[&<>]/g, one => `&#${one.charCodeAt(0)};`);
  function gaps(on, rows, measure, a, b) {
    const place = el("div", { class: "figure", role: "img", "aria-label": `${measure} of ${a} minus ${b} on every query` });
    const spec = look => ({
      data: [{ type: rows.length > 1500 ? "scatter" : "bar", mode: "lines", fill: "tozeroy", x: rows.map((_, at) => at + 1), y: rows.map(row => row.gap),
        marker: { color: rows.map(row => row.gap < 0 ? look.loss : look.win), line: { width: 0 } }, line: { color: look.win },
        text: rows.map(row => escaped(row.label)), textposition: "none", hovertemplate: "%{text}: %{y:+.4f}<extra></extra>" }],
      layout: { height: 320, bargap: rows.length > 150 ? 0 : .15, xaxis: { title: { text: "queries, by difference" }, showgrid: false },
        yaxis: { title: { text: `${escaped(measure)}, difference` }, zeroline: true } },
    });
    on.drawn.push(() => place.isConnected && draw(place, spec, 320));
    return place;
  }

  async function compare(on) {
    const sets = site.datasets.filter(one => one.systems.length > 1);
    if (!sets.length) return nothing();
    const set = pickSet(on, sets), { measure, piece: name } = pickMeasure(on, set);
    const found = await piece(`scores-${name}`), names = set.systems.filter(one => found.systems.includes(one));
    const options = names.map(one => [one, title(one)]);
    const a = pick(on, "a", "A", options), b = pick(on, "b", "B", options, names.find(one => one !== a));
    if (a === b) return [el("p", { class: "said" }, "A and B are the same system: choose another."), provenance([set], measure)];
    const [first, second] = [a, b].map(one => found.systems.indexOf(one));
    const pair = compared(found, first, second), [one, other] = [a, b].map(title);
    const rows = found.queries.map((query, at) => {
      const [x, y] = [found.values[first][at], found.values[second][at]];
      const part = found.parts[at];
      return { query, label: part ? `${part}: ${query}` : query, set: part ?? set.name, x, y, gap: x === null || y === null ? null : (x - y) / found.unit };
    }).filter(row => row.gap !== null);
    const value = number => (number / found.unit).toFixed(4);
    const listed = [...rows].sort((x, y) => Math.abs(y.gap) - Math.abs(x.gap));
    const linked = new Set(site.datasets.filter(each => each.lists).map(each => each.name));
    const line = row => [linked.has(row.set) ? el("a", { href: address("query", { dataset: row.set, query: row.query, a, b, measure }) }, row.label) : row.label, value(row.x), value(row.y), (row.gap > 0 ? "+" : "") + row.gap.toFixed(4).replace("-", "−")];
    const heads = [{ name: "Query" }, ...[one, other, "Difference"].map(name => ({ name, class: "number" }))];
    const listing = some => table(heads, some.map(line), { caption: `${some.length} of ${rows.length} queries, the largest difference first`, tall: true, sortable: true });
    const place = el("div", {}, listing(listed.slice(0, 50)));
    const more = el("button", { type: "button", onclick: event => { place.replaceChildren(listing(listed)); event.target.remove(); } }, "All queries");
    return [
      pair ? verdict(found, pair, one, other) : el("p", { class: "said" }, "Too few queries have a value of both."),
      el("h2", {}, `${measure} of ${one} minus ${other}, query by query`),
      gaps(on, [...rows].sort((x, y) => y.gap - x.gap), measure, one, other),
      el("p", { class: "note" }, `Blue: ${one} is higher; orange: ${other} is.`),
      el("h2", {}, "Queries"), place, listed.length > 50 && more,
      provenance([set], measure),
    ];
  }

  const MARKS = grade => grade === null ? ["hole", "?", "nobody judged it"] : grade > 0 ? ["relevant", `✓${grade > 1 ? grade : ""}`, `relevant (${grade})`] : ["judged", "·", "judged not relevant"];
  async function query(on) {
    const sets = site.datasets.filter(one => one.lists);
    if (!sets.length) return nothing();
    const set = pickSet(on, sets), of = await piece(`queries-${set.place}`);
    const wanted = of.queries.indexOf(chosen().get("query")), at = Math.max(wanted, 0), id = of.queries[at];
    field(on, "Query", el("input", { name: "query", list: "queries", value: id, autocomplete: "off", onchange: event => choose({ query: event.target.value }) }));
    for (const [words, to] of [["Previous", at - 1], ["Next", at + 1]]) {
      on.fields.push(el("button", { type: "button", name: words, disabled: !(to in of.queries), onclick: () => choose({ query: of.queries[to] }) }, words));
    }
    const options = set.systems.filter(one => of.systems.includes(one)).map(one => [one, title(one)]), none = ["-", "none"];
    const lists = ["a", "b", "c"].map((key, place) => pick(on, key, `List ${place + 1}`, place ? [none, ...options] : options, place === 2 ? "-" : (options[place] ?? none)[0])).filter(one => one !== "-");
    const { measure, piece: name } = pickMeasure(on, set);
    const held = await piece(`lists-${set.place}-${Math.floor(at / of.at_once)}`), scores = await piece(`scores-${name}`);
    const one = held.queries[at % of.at_once], row = scores.queries.indexOf(id);
    const texts = new Map(held.texts?.map(([doc, ...words]) => [doc, words]));
    const entry = doc => {
      const [kind, sign, words] = MARKS(one.grades[doc]), text = texts.get(one.docs[doc]);
      return el("li", {}, el("span", { class: kind, title: words, role: "img", "aria-label": words }, sign), " ", text
        ? el("details", {}, el("summary", {}, text[0] || one.docs[doc]), el("p", { class: "text" }, text[1]), el("p", { class: "note" }, one.docs[doc])) : one.docs[doc]);
    };
    const list = system => {
      const own = one.lists[of.systems.indexOf(system)] ?? [], value = scores.values[scores.systems.indexOf(system)]?.[row];
      return el("section", { "aria-label": title(system) }, el("h3", {}, title(system)),
        el("p", { class: "note" }, `${measure} ${value == null ? "–" : (value / scores.unit).toFixed(4)}; ${own.filter(doc => one.grades[doc] === null).length} of ${own.length} holes`), el("ol", {}, own.map(entry)));
    };
    const shown = of.queries.length <= 2000 ? of.queries : of.queries.slice(Math.max(0, at - 1000), at + 1000);
    return [
      chosen().get("query") && wanted < 0 && el("p", { class: "said" }, `No list here answers a query called ${chosen().get("query")}: the first is shown.`),
      el("datalist", { id: "queries" }, shown.map(each => el("option", { value: each }))),
      el("h2", {}, `Query ${shortly(id)}`), of.texts?.[at] && el("p", { class: "said" }, of.texts[at]),
      el("p", { class: "note" }, `Query ${at + 1} of ${of.queries.length}; judged relevant to it: ${of.relevant[at]}. ✓ relevant, · judged not relevant, ? a hole: nobody judged it.`),
      el("div", { class: "lists" }, lists.map(list)),
      set.texts || el("p", { class: "note" }, "Documents are named by their ids: their texts are not on this site."),
      provenance([set], measure),
    ];
  }

  function foot() {
    const made = site.made, link = (file, words) => el("a", { href: file }, words);
    document.getElementById("foot").replaceChildren(
      el("p", {}, `${made.by ? `Published by ${made.by}. ` : ""}Made with Beirscope ${made.version} on ${made.made.slice(0, 10)} from version ${made.version_of_results} of its results; ${made.judgements} judgements.`),
      el("p", {}, link("scores.csv", "All scores (CSV)"), " · ", link("manifest.json", "What this site is made of"), " · ", link("CITATION.txt", "How to cite it")));
  }
  const pages = { index, dataset, compare, query };
  let last;
  async function show() {
    const now = ++turn, on = { fields: [], drawn: [], lacking: [] };
    const pickers = document.getElementById("pickers"), shown = document.getElementById("shown");
    try {
      site ??= await piece("site");
      titles ??= new Map(site.systems);
      const made = await pages[page](on);
      if (now !== turn) return;
      const held = pickers.contains(document.activeElement) ? document.activeElement.name : null;
      pickers.replaceChildren(...on.fields);
      if (held) pickers.querySelector(`[name="${held}"]`)?.focus();
      const unknown = [...chosen().keys()].filter(key => !pickers.querySelector(`[name="${CSS.escape(key)}"]`));
      if (unknown.length) on.lacking.push(`This page has no choice called ${unknown.join(", ")}: the address says more than is shown.`);
      const lacking = on.lacking.map(words => el("p", { class: "said" }, words));
      shown.replaceChildren(...lacking, ...[made].flat(3).filter(one => one instanceof Node));
      last = on;
      foot();
      shown.removeAttribute("aria-busy");
      await Promise.all(on.drawn.map(one => one()));
      if (now === turn) document.body.dataset.drawn = location.hash;
    } catch (error) {
      if (now !== turn) return;
      shown.replaceChildren(el("p", { class: "said", role: "alert" }, `This cannot be shown: ${error.message}`));
      throw error;
    }
  }
  addEventListener("hashchange", show);
  for (const media of [narrow, dark]) media.addEventListener("change", () => last?.drawn.forEach(one => one()));
  document.querySelector("[data-skip]").addEventListener("click", event => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  addEventListener("DOMContentLoaded", show);
  return { put };
})();

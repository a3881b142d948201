"use strict";
// Every text goes into the document as a text node: nothing of the data is ever markup.
const beirscope = (() => {
  const root = document.body.dataset.root;
  const narrow = matchMedia("(max-width: 599px)"), dark = matchMedia("(prefers-color-scheme: dark)");
  const waiting = new Map();

  // Data comes as scripts, for a browser opens no local file of another kind.
  function script(file) {
    return new Promise((done, failed) => {
      const one = document.createElement("script");
      one.src = root + file;
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

  // Tables: a click on a head sorts by it, numbers by value.
  const value = words => { const n = parseFloat(words.replaceAll(",", "").replace("−", "-")); return isNaN(n) ? words : n; };
  const than = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? 1 : -1;
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, at) => {
      const sort = () => {
        const up = head.getAttribute("aria-sort") === "descending";
        heads.forEach(one => one.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const keyed = [...body.rows].map(row => [value(row.cells[at].textContent), row]);
        body.append(...keyed.sort(([a], [b]) => (up ? 1 : -1) * than(a, b)).map(([, row]) => row));
      };
      head.replaceChildren(el("button", { class: "sort", type: "button", onclick: sort }, head.textContent));
    });
  }
  function table(heads, rows, { caption, tall } = {}) {
    const cell = (row, at) => el(at ? "td" : "th", { class: heads[at].class, scope: at ? null : "row" }, row[at]);
    const made = el("table", {}, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, heads.map(one => el("th", { scope: "col", class: one.class }, one.name)))),
      el("tbody", {}, rows.map(row => el("tr", {}, row.map((_, at) => cell(row, at))))));
    sortable(made);
    return el("div", { class: tall ? "aside tall" : "aside", tabindex: 0, role: "group", "aria-label": caption }, made);
  }
  const later = (words, make) => {
    const made = el("details", {}, el("summary", {}, words));
    made.addEventListener("toggle", () => { if (made.open && made.children.length === 1) made.append(make()); });
    return made;
  };

  // Figures: drawn where they are in sight, in the colours of the browser.
  const merged = (one, more) => {
    if (more === null || typeof more !== "object" || Array.isArray(more) || one === null || typeof one !== "object") return more;
    const made = Array.isArray(one) ? [...one] : { ...one };
    for (const [key, change] of Object.entries(more)) made[key] = merged(made[key], change);
    return made;
  };
  async function draw(place, spec, to) {
    const [looks] = await Promise.all([piece("looks"), plotly()]);
    const look = looks[dark.matches ? "dark" : "light"], { data, layout } = spec(look);
    await Plotly.react(place, data, { ...layout, template: look.template }, { displayModeBar: false, responsive: true });
    place.removeAllListeners?.("plotly_click");
    place.on("plotly_click", ({ points: [point] }) => {
      const rest = [point?.customdata].flat(3)[0], way = to === undefined || rest === undefined ? "" : to + rest;
      if (/^[^:]*\.html(#|$)/.test(way)) location.href = way;
    });
  }
  const drawn = [];
  const sight = new IntersectionObserver(seen => seen.forEach(one => {
    if (one.isIntersecting) { sight.unobserve(one.target); one.target.draw(); }
  }), { rootMargin: "400px" });
  function watched(place, spec, to) {
    let begun = false;
    place.draw = () => { begun = true; return draw(place, spec, to); };
    drawn.push(() => begun && place.isConnected && draw(place, spec, to));
    sight.observe(place);
  }
  function lines([title, rows]) {
    return el("ol", { class: "ranked", "aria-label": title }, rows.map(([rank, name, said]) =>
      el("li", {}, el("span", { class: "rank" }, rank ? `${rank}.` : ""), el("span", { class: "name" }, name), el("span", { class: "value" }, said))));
  }
  // Where the screen is narrow a matrix stands as ranked lists; its numbers stand in a table, too.
  function figure(holder) {
    const one = JSON.parse(holder.firstElementChild.textContent), title = holder.getAttribute("aria-label");
    const place = el("div", { class: "figure", role: "img", "aria-label": title });
    const height = one.light.layout.height ?? 450;
    place.style.minHeight = `${height}px`;
    holder.removeAttribute("aria-label");
    holder.append(el("figcaption", {}, title), el("div", { class: one.lists ? "wide" : null }, place));
    watched(place, () => structuredClone(dark.matches ? merged(one.light, one.dark) : one.light), one.to);
    if (!one.lists) return;
    const several = one.lists.length > 1, list = el("div", {}, lines(one.lists[0]));
    const options = one.lists.map(([words], at) => el("option", { value: at }, words));
    const change = event => list.replaceChildren(lines(one.lists[event.target.value]));
    holder.append(el("div", { class: "narrow" }, several && el("label", {}, `${one.of} `, el("select", { onchange: change }, options)), list));
    const heads = [...(several ? [one.of] : []), "Rank", one.name, "Value"].map(name => ({ name }));
    const rows = () => one.lists.flatMap(([words, own]) => own.map(row => [...(several ? [words] : []), ...row.map(each => each ?? "")]));
    holder.append(later("Numbers", () => table(heads, rows(), { caption: title, tall: true })));
  }

  // Tools: what they show is in the address behind the number sign, so that a link opens it.
  const chosen = () => new URLSearchParams(location.hash.slice(1));
  function choose(given) {
    const now = chosen();
    for (const [key, value] of Object.entries(given)) now.set(key, value);
    location.hash = now.toString();
  }
  function pick(on, key, label, options, usual = options[0]?.[0], asked = chosen().get(key)) {
    const known = options.map(([one]) => one), at = known.includes(asked) ? asked : usual;
    if (asked && asked !== at) on.lacking.push(`${label}: ${asked} is not on this page; ${at ?? "nothing"} is shown instead.`);
    on.fields.push(el("label", {}, label, el("select", { name: key, onchange: event => choose({ [key]: event.target.value }) },
      options.map(([one, words]) => el("option", { value: one, selected: one === at }, words ?? one)))));
    return at;
  }
  const region = (words, ...inside) => el("section", { "aria-label": words }, ...inside);
  const shortly = words => words.length > 60 ? `${words.slice(0, 59)}…` : words;
  // Text in Plotly is a small HTML.
  const escaped = words => shortly(words).replace(/[&<>]/g, one => `&#${one.charCodeAt(0)};`);
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
  function gaps(rows, measure, a, b) {
    const place = el("div", { class: "figure", role: "img", "aria-label": `${measure} of ${a} minus ${b} on every query` });
    watched(place, look => ({
      data: [{ type: rows.length > 1500 ? "scatter" : "bar", mode: "lines", fill: "tozeroy", x: rows.map((_, at) => at + 1), y: rows.map(row => row.gap),
        marker: { color: rows.map(row => row.gap < 0 ? look.loss : look.win), line: { width: 0 } }, line: { color: look.win },
        text: rows.map(row => escaped(row.label)), textposition: "none", hovertemplate: "%{text}: %{y:+.4f}<extra></extra>" }],
      layout: { height: 320, bargap: rows.length > 150 ? 0 : .15, xaxis: { title: { text: "queries, by difference" }, showgrid: false },
        yaxis: { title: { text: `${escaped(measure)}, difference` }, zeroline: true } },
    }));
    return place;
  }
  async function pairs(on, given) {
    const found = await piece(given.piece), { measure, systems, titles } = found;
    const options = systems.map((one, at) => [one, titles[at]]);
    const a = pick(on, "a", "A", options), b = pick(on, "b", "B", options, systems.find(one => one !== a));
    if (a === b) return el("p", { class: "said" }, "A and B are the same system: choose another.");
    const [first, second] = [a, b].map(one => systems.indexOf(one)), [one, other] = [first, second].map(at => titles[at]);
    const pair = compared(found, first, second);
    const rows = found.queries.map((query, at) => {
      const [x, y] = [found.values[first][at], found.values[second][at]], part = found.parts[at];
      return { query, label: part ? `${part}: ${query}` : query, set: part ?? given.dataset, x, y, gap: x === null || y === null ? null : (x - y) / found.unit };
    }).filter(row => row.gap !== null);
    const number = value => (value / found.unit).toFixed(4);
    const listed = [...rows].sort((x, y) => Math.abs(y.gap) - Math.abs(x.gap));
    const to = row => given.queries[row.set] && `${root}${given.queries[row.set]}#${new URLSearchParams([["measure", measure], ["systems", a], ["systems", b], ["query", row.query]])}`;
    const line = row => [to(row) ? el("a", { href: to(row) }, row.label) : row.label, number(row.x), number(row.y), (row.gap > 0 ? "+" : "") + row.gap.toFixed(4).replace("-", "−")];
    const heads = [{ name: "Query" }, ...[one, other, "Difference"].map(name => ({ name, class: "number" }))];
    const listing = some => table(heads, some.map(line), { caption: `${some.length} of ${rows.length} queries, the largest difference first`, tall: true });
    const place = el("div", {}, listing(listed.slice(0, 50)));
    const more = el("button", { type: "button", onclick: event => { place.replaceChildren(listing(listed)); event.target.remove(); } }, "All queries");
    return [
      pair ? verdict(found, pair, one, other) : el("p", { class: "said" }, "Too few queries have a value for both systems."),
      el("h3", {}, `${measure} of ${one} minus ${other}, query by query`), gaps([...rows].sort((x, y) => y.gap - x.gap), measure, one, other),
      el("p", { class: "note" }, `Blue: ${one} is higher; orange: ${other} is.`),
      place, listed.length > 50 && more,
    ];
  }
  const MARKS = grade => grade === null ? ["hole", "?", "nobody judged it"] : grade > 0 ? ["relevant", `✓${grade > 1 ? grade : ""}`, `relevant (${grade})`] : ["judged", "·", "judged not relevant"];
  async function lists(on, given) {
    const of = await piece(given.piece), asked = chosen(), wanted = of.queries.indexOf(asked.get("query"));
    const at = Math.max(wanted, 0), id = of.queries[at], named = asked.getAll("systems");
    on.fields.push(el("label", {}, "Query", el("input", { name: "query", list: "queries", value: id, autocomplete: "off", onchange: event => choose({ query: event.target.value }) })));
    for (const [words, to] of [["Previous", at - 1], ["Next", at + 1]]) {
      on.fields.push(el("button", { type: "button", name: words, disabled: !(to in of.queries), onclick: () => choose({ query: of.queries[to] }) }, words));
    }
    const options = of.systems.map((one, place) => [one, of.titles[place]]), none = ["-", "none"];
    const shown = ["a", "b", "c"].map((key, place) => pick(on, key, `List ${place + 1}`, place ? [none, ...options] : options,
      place === 2 ? "-" : (options[place] ?? none)[0], asked.get(key) ?? named[place])).filter(one => one !== "-");
    const measures = given.scores.map(([measure]) => [measure]), usual = measures.some(([one]) => one === "nDCG@10") ? "nDCG@10" : measures[0]?.[0];
    const measure = pick(on, "measure", "Measure", measures, usual);
    const held = await piece(`${given.lists}-${Math.floor(at / of.at_once)}`), scores = await piece(given.scores.find(([one]) => one === measure)[1]);
    const one = held.queries[at % of.at_once], row = scores.queries.indexOf(id), texts = new Map(held.texts?.map(([doc, ...words]) => [doc, words]));
    const entry = doc => {
      const [kind, sign, words] = MARKS(one.grades[doc]), text = texts.get(one.docs[doc]);
      return el("li", {}, el("span", { class: kind, title: words, role: "img", "aria-label": words }, sign), " ", text
        ? el("details", {}, el("summary", {}, text[0] || one.docs[doc]), el("p", { class: "text" }, text[1]), el("p", { class: "note" }, one.docs[doc])) : one.docs[doc]);
    };
    const list = system => {
      const own = one.lists[of.systems.indexOf(system)] ?? [], score = scores.values[scores.systems.indexOf(system)]?.[row], words = of.titles[of.systems.indexOf(system)];
      return region(words, el("h3", {}, words), el("p", { class: "note" },
        `${measure} ${score == null ? "–" : (score / scores.unit).toFixed(4)}; ${own.filter(doc => one.grades[doc] === null).length} of ${own.length} holes`), el("ol", {}, own.map(entry)));
    };
    const offered = of.queries.length <= 2000 ? of.queries : of.queries.slice(Math.max(0, at - 1000), at + 1000);
    return [
      asked.get("query") && wanted < 0 && el("p", { class: "said" }, `No list here has a query called ${asked.get("query")}: the first is shown.`),
      el("datalist", { id: "queries" }, offered.map(each => el("option", { value: each }))),
      el("h3", {}, `Query ${shortly(id)}`), of.texts?.[at] && el("p", { class: "said" }, of.texts[at]),
      el("p", { class: "note" }, `Query ${at + 1} of ${of.queries.length}; judged relevant to it: ${of.relevant[at]}. ✓ relevant, · judged not relevant, ? unjudged.`),
      el("div", { class: "lists" }, shown.map(list)),
      given.texts || el("p", { class: "note" }, "Documents are shown by id, since their texts are not on this site."),
    ];
  }
  const tools = { pairs, lists };
  let turn = 0;
  async function use(holder) {
    const now = ++turn, on = { fields: [], lacking: [] };
    let made;
    try {
      made = await tools[holder.dataset.tool](on, JSON.parse(holder.dataset.given));
    } catch (error) {
      holder.replaceChildren(el("p", { class: "said", role: "alert" }, `This cannot be shown: ${error.message}`));
      throw error;
    }
    if (now !== turn) return;
    const held = holder.contains(document.activeElement) ? document.activeElement.name : null;
    const unknown = [...chosen().keys()].filter(key => key !== "systems" && !on.fields.some(one => one.querySelector?.(`[name="${CSS.escape(key)}"]`)));
    if (unknown.length) on.lacking.push(`This page has no choice called ${unknown.join(", ")}: the address says more than is shown.`);
    holder.replaceChildren(...on.lacking.map(words => el("p", { class: "said" }, words)), el("div", { class: "pickers" }, on.fields),
      ...[made].flat(3).filter(one => one instanceof Node));
    if (held) holder.querySelector(`[name="${held}"]`)?.focus();
    document.body.dataset.shown = location.hash;
  }

  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table[data-sortable]").forEach(sortable);
    document.querySelectorAll("figure").forEach(figure);
    document.querySelectorAll("[data-tool]").forEach(tool => {
      tool.draw = () => use(tool);
      addEventListener("hashchange", () => use(tool));
      if (!location.hash) return sight.observe(tool);
      use(tool).then(() => tool.scrollIntoView());
    });
    document.body.dataset.drawn = "";
  });
  for (const media of [narrow, dark]) media.addEventListener("change", () => drawn.forEach(one => one()));
  addEventListener("beforeprint", () => document.querySelectorAll(".figure").forEach(one => one.draw()));
  return { put };
})();

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
    return el("div", { class: tall ? "aside tall" : "aside", tabindex: 0, role: "region", "aria-label": caption }, made);
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
  async function draw(place, spec) {
    const [looks] = await Promise.all([piece("looks"), plotly()]);
    const { data, layout } = spec(looks[dark.matches ? "dark" : "light"]);
    await Plotly.react(place, data, { ...layout, template: looks[dark.matches ? "dark" : "light"].template }, { displayModeBar: false, responsive: true });
    place.removeAllListeners?.("plotly_click");
    place.on("plotly_click", ({ points: [point] }) => {
      const way = [point?.customdata].flat(3)[0];
      if (/^[^:]*\.html(#|$)/.test(way)) location.href = way;
    });
  }
  const drawn = [];
  const sight = new IntersectionObserver(seen => seen.forEach(one => {
    if (one.isIntersecting) { sight.unobserve(one.target); one.target.draw(); }
  }), { rootMargin: "400px" });
  function watched(place, spec) {
    let begun = false;
    place.draw = () => { begun = true; return draw(place, spec); };
    drawn.push(() => begun && place.isConnected && draw(place, spec));
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
    watched(place, () => structuredClone(dark.matches ? merged(one.light, one.dark) : one.light));
    if (!one.lists) return;
    const several = one.lists.length > 1, list = el("div", {}, lines(one.lists[0]));
    const options = one.lists.map(([words], at) => el("option", { value: at }, words));
    const change = event => list.replaceChildren(lines(one.lists[event.target.value]));
    holder.append(el("div", { class: "narrow" }, several && el("label", {}, `${one.of} `, el("select", { onchange: change }, options)), list));
    const heads = [...(several ? [one.of] : []), "Rank", one.name, "Value"].map(name => ({ name }));
    const rows = () => one.lists.flatMap(([words, own]) => own.map(row => [...(several ? [words] : []), ...row.map(each => each ?? "")]));
    holder.append(later("Numbers", () => table(heads, rows(), { caption: title, tall: true })));
  }

  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table[data-sortable]").forEach(sortable);
    document.querySelectorAll("figure").forEach(figure);
    document.body.dataset.drawn = "";
  });
  for (const media of [narrow, dark]) media.addEventListener("change", () => drawn.forEach(one => one()));
  addEventListener("beforeprint", () => document.querySelectorAll(".figure").forEach(one => one.draw()));
  return { put };
})();

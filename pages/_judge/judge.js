// The judging form. Outside text becomes text nodes, never markup.

// Milliseconds without an answer until the log is resent; the wait grows each time, since each log
// interrupts a busy server and makes it start its answer again.
const RESEND = 2500;
const LATEST = 60000;
const TROUBLED = 10000; // longest wait if the server answers but cannot save
const SIGN = 60000; // interval at which the form reports that its reader is still there
const AWAY = 240000; // after this long without a movement nobody is there, and the pairs are released
const ASK = 8000; // interval of requests while other assessors hold all remaining pairs
const REMEMBERED = 50; // answers that can be undone
const PACED = 5; // answers before a pace is shown, since the first ones take longer

const SKIPPED = "Skipped: other assessors get it, and you can return to it at the end";

const MOVES = ["keydown", "pointermove", "wheel", "touchmove"];

// Forms by the scope of their answers. If Streamlit redraws a form during the work, it continues in
// its new place, with its history for undo and the unfinished note.
const forms = (globalThis.beirscopeForms ??= new Map());

export default function ({ parentElement, data, ...told }) {
  const place = parentElement.querySelector(".judge");
  let form = forms.get(data.scope);
  if (!form || (form.place !== place && form.data.session !== data.session)) {
    form?.leave();
    form = new Form();
    forms.set(data.scope, form);
  }
  form.stand(place);
  form.update({ data, ...told });
  return () => {
    if (form.place === place) form.leave();
  };
}

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function marked(pieces) {
  return pieces.map((piece, place) => (place % 2 ? element("mark", "", piece) : piece));
}

// Return the element of a document's block, from its kind (one of the server's) and its pieces.
function block([kind, pieces]) {
  return element(kind === "code" ? "pre" : "p", kind, ...marked(pieces));
}

// Return the node for a string, or for a list of a tag and its children; the server sends only harmless tags.
function grown(node) {
  if (typeof node === "string") return node;
  const [tag, ...children] = node;
  return element(tag, "", ...children.map(grown));
}

function name() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function duration(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

// Unsaved entries in the browser's storage; each has its own key, so that windows overwrite none.
class Drawer {
  constructor(scope) {
    this.prefix = `beirscope.answers.${scope}.`;
  }
  keep(entry) {
    try {
      localStorage.setItem(this.prefix + entry.entry, JSON.stringify(entry));
    } catch {
      // This browser stores nothing; the entry is safe once it is sent.
    }
  }
  drop(id) {
    try {
      localStorage.removeItem(this.prefix + id);
    } catch {
      // Nothing was stored.
    }
  }
  kept() {
    try {
      return Object.keys(localStorage)
        .filter((key) => key.startsWith(this.prefix))
        .map((key) => JSON.parse(localStorage.getItem(key)))
        .sort((one, other) => one.at - other.at || one.number - other.number);
    } catch {
      return [];
    }
  }
}

class Form {
  constructor() {
    this.place = null;
    this.grid = element("div", "grid");
    this.window = name();
    this.number = 0;
    this.sheets = new Map();
    this.order = [];
    this.done = new Set();
    this.log = [];
    this.history = [];
    this.given = new Map();
    this.acts = new Map();
    this.grades = new Map();
    this.current = null;
    this.asked = null;
    this.unheard = new Set();
    this.unsure = false;
    this.ignored = 0;
    this.shown = 0;
    this.flying = null;
    this.sent = 0;
    this.patience = RESEND;
    this.sign = 0;
    this.onKey = (event) => this.key(event);
    this.onHide = () => this.pause();
    this.onOther = (event) => this.elsewhere(event);
    this.onMove = () => (this.active = performance.now());
  }

  stand(place) {
    if (this.place === place) return;
    this.leave();
    this.place = place;
    place.replaceChildren(this.grid);
    this.active = this.since = performance.now();
    for (const move of MOVES) window.addEventListener(move, this.onMove, { passive: true });
    window.addEventListener("keydown", this.onKey);
    document.addEventListener("visibilitychange", this.onHide);
    window.addEventListener("storage", this.onOther);
    this.timer = setInterval(() => this.tick(), 500);
  }

  leave() {
    this.place = null;
    window.removeEventListener("keydown", this.onKey);
    document.removeEventListener("visibilitychange", this.onHide);
    window.removeEventListener("storage", this.onOther);
    for (const move of MOVES) window.removeEventListener(move, this.onMove);
    clearInterval(this.timer);
  }

  update({ data, setStateValue, setTriggerValue }) {
    this.setStateValue = setStateValue;
    this.setTriggerValue = setTriggerValue;
    if (this.isOld(data)) return;
    const first = !this.data;
    // Another server took over, which did not receive the log that was being sent.
    const elsewhere = !first && this.data.session !== data.session;
    const before = this.data?.texts;
    this.data = data;
    if (first) this.begin();
    else this.unheard.clear();
    const saved = new Set(data.saved);
    for (const entry of this.log) if (saved.has(entry.entry)) this.drawer.drop(entry.entry);
    this.log = this.log.filter((entry) => !saved.has(entry.entry));
    this.letGo(new Set(data.replaced));
    const answered = data.trouble || elsewhere || saved.has(this.flying);
    if (answered) this.flying = null;
    if (saved.size) {
      this.sent = performance.now();
      this.patience = RESEND;
    }
    this.order = data.documents.map((sheet) => sheet.key);
    for (const sheet of data.documents) this.sheets.set(sheet.key, sheet);
    if (data.last && !this.history.length && !this.order.includes(data.last.key)) {
      this.history.push(data.last.key);
      this.sheets.set(data.last.key, data.last);
    }
    this.settle();
    // The texts with the visible ids may have been replaced.
    if (!first && data.texts !== before) this.showSheet();
    this.draw();
    if (this.log.length && (first || (answered && !data.trouble))) this.send();
  }

  // Drop answers to texts that were replaced, and ask about the new texts instead.
  letGo(replaced) {
    const going = this.log.filter((entry) => replaced.has(entry.entry));
    if (!going.length) return;
    for (const { entry, pair } of going) {
      this.drawer.drop(entry);
      this.done.delete(pair);
    }
    this.log = this.log.filter((entry) => !replaced.has(entry.entry));
    this.flying = null;
    this.history = [];
    const answers = going.length === 1 ? "1 answer is" : `${going.length} answers are`;
    this.last.textContent = `${answers} not saved because the texts were replaced; judge these again`;
  }

  // After two runs in quick succession, Streamlit may draw the first run's data last.
  isOld({ session, turn }) {
    return this.data?.session === session && turn < this.data.turn;
  }

  // Answers that an earlier visit could not save are sent with the next answer at the latest.
  begin() {
    this.drawer = new Drawer(this.data.scope);
    this.log = this.drawer.kept();
    // The server may already count them as judged; its next message tells.
    this.unheard = new Set(this.log.map(({ entry }) => entry));
    for (const entry of this.log) this.mark(entry);
    this.build();
    const fresh = !this.log.length && !this.data.judged && !this.data.skipped;
    this.guideline.classList.toggle("open", fresh);
  }

  mark({ act, pair }) {
    if (act === "undo") this.done.delete(pair);
    else this.done.add(pair);
  }

  // Do not ask about pairs that the same person judged in another window.
  elsewhere({ key, newValue }) {
    if (!newValue || !key.startsWith(this.drawer?.prefix)) return;
    this.mark(JSON.parse(newValue));
    this.settle();
    this.draw();
  }

  // A pair that is no longer held went to another assessor, unless its undo is being sent.
  settle() {
    const gone = !this.order.includes(this.current) && (this.closed || !this.log.length);
    if (this.current && !gone && !this.done.has(this.current)) return;
    const next = this.order.find((key) => !this.done.has(key)) ?? null;
    if (next !== this.current) this.show(next);
  }

  show(key) {
    this.current = key;
    this.unsure = false;
    this.spent = 0;
    this.since = this.shown = performance.now();
    const before = this.given.get(key);
    this.note.value = before ?? "";
    this.noteBox.classList.toggle("open", Boolean(before));
    this.showSheet();
  }

  pause() {
    if (document.hidden) this.spent += performance.now() - this.since;
    else this.since = performance.now();
    // The page may be about to close.
    if (document.hidden && this.log.length) this.dispatch();
  }

  get inSight() {
    return Boolean(this.current && this.sheets.has(this.current));
  }

  // True if the dataset was removed.
  get closed() {
    return this.data.texts === "";
  }

  get loads() {
    return !this.closed && !this.inSight && (this.log.length > 0 || this.order.some((key) => !this.done.has(key)));
  }

  // A key judges the document that was visible when it was pressed. A key that waited while the
  // browser was busy was meant for the document before, and must not judge an unseen one.
  isEarly(event) {
    return this.inSight ? event.timeStamp < this.shown : this.loads;
  }

  ignore() {
    this.ignored += 1;
    const keys = this.ignored === 1 ? "1 key" : `${this.ignored} keys`;
    this.last.textContent = `${keys} pressed before this document was visible: not counted`;
    this.draw();
  }

  answer(act, relevance) {
    const pair = this.current;
    if (!pair) return;
    this.record({ pair, act, relevance, unsure: this.unsure, note: this.note.value.trim() });
    this.ignored = 0;
    this.done.add(pair);
    this.given.set(pair, this.note.value);
    this.acts.set(pair, act);
    this.grades.set(pair, relevance);
    this.buttons.classList.add("answered");
    this.history.push(pair);
    if (this.history.length > REMEMBERED) this.forget(this.history.shift());
    const doubt = this.unsure ? ", unsure" : "";
    this.last.textContent = act === "skip" ? SKIPPED : `Last: ${this.named(relevance)}${doubt}`;
    this.guideline.classList.remove("open");
    this.show(this.order.find((key) => !this.done.has(key)) ?? null);
    this.bring(this.question);
    this.send();
    this.draw();
  }

  named(relevance) {
    return this.data.grades.find((grade) => grade.relevance === relevance)?.name ?? "";
  }

  bring(part) {
    part.scrollIntoView({ block: "nearest" });
  }

  undo() {
    const pair = this.history.pop();
    if (!pair) return;
    const undoes = this.acts.get(pair) ?? "grade";
    this.record({ pair, act: "undo", undoes, unsure: false, note: "" });
    this.ignored = 0;
    this.done.delete(pair);
    const grade = this.named(this.grades.get(pair)) || "your last grade";
    this.last.textContent = `Undone: ${undoes === "skip" ? "skipped" : grade}`;
    this.show(pair);
    this.bring(this.question);
    this.send();
    this.draw();
  }

  forget(key) {
    this.given.delete(key);
    this.acts.delete(key);
    this.grades.delete(key);
    if (!this.order.includes(key)) this.sheets.delete(key);
  }

  record(answer) {
    this.number += 1;
    const seconds = (this.spent + (document.hidden ? 0 : performance.now() - this.since)) / 1000;
    const entry = {
      ...answer,
      entry: `${this.window}-${this.number}`,
      number: this.number,
      at: Date.now(),
      seconds: Number.isFinite(seconds) ? Math.max(0, seconds) : 0,
      version: this.data.version,
      texts: this.data.texts,
      // The owner of the entry: another form, or the list of tasks, sends it if this form could not.
      task: this.data.task,
      person: this.data.person,
    };
    this.log.push(entry);
    this.drawer.keep(entry);
  }

  // Only one log is sent at a time; the next one has all answers given meanwhile. Each log interrupts
  // the server, which otherwise would never answer a person who presses keys quickly.
  send() {
    if (!this.flying || performance.now() - this.sent > this.patience) this.dispatch();
  }

  dispatch() {
    this.flying = this.log.at(-1)?.entry ?? null;
    this.sent = performance.now();
    this.sign = this.sent;
    this.setStateValue("log", { time: Date.now(), entries: this.log });
  }

  tick() {
    const now = performance.now();
    if (this.log.length && now - this.sent > this.patience) {
      this.patience = Math.min(2 * this.patience, this.data.trouble ? TROUBLED : LATEST);
      this.dispatch();
    } else if (now - this.active < AWAY && now - this.sign > (this.current ? SIGN : ASK)) {
      this.sign = now;
      if (this.current || this.data.left) this.setStateValue("seen", Date.now());
    }
    this.drawSaving();
  }

  again() {
    if (this.log.length) return;
    this.done.clear();
    this.history = [];
    this.setTriggerValue("again", true);
  }

  key(event) {
    const target = event.composedPath()[0];
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (target.isContentEditable || /^(input|select|textarea)$/i.test(target.tagName ?? "")) {
      if (target === this.note && (event.key === "Escape" || event.key === "Enter")) {
        event.preventDefault();
        this.note.blur();
      }
      return;
    }
    const scroll = { " ": 0.85, PageDown: 0.85, PageUp: -0.85, ArrowDown: 0.12, ArrowUp: -0.12 };
    // On keyboards whose digits need the shift key, the position of the key counts.
    const digit = /^Digit(\d)$/.exec(event.code)?.[1];
    const act = this.keys.get(event.key.toLowerCase()) ?? this.keys.get(digit);
    if (act) {
      event.preventDefault();
      event.stopPropagation();
      if (event.repeat) return;
      if (this.judges.has(act) && this.isEarly(event)) this.ignore();
      else act();
    } else if (event.key in scroll && !/^button$/i.test(target.tagName ?? "")) {
      event.preventDefault();
      const box = target === this.narrative ? target : this.document;
      box.scrollBy(0, scroll[event.key] * box.clientHeight);
    }
  }

  button(label, key, act, className = "") {
    const made = element("button", className, label, element("kbd", "", key.toUpperCase()));
    made.type = "button";
    made.setAttribute("aria-keyshortcuts", key.toUpperCase());
    made.addEventListener("click", () => {
      made.blur();
      act();
    });
    this.keys.set(key, act);
    return made;
  }

  build() {
    this.keys = new Map();
    this.progress = element("span", "");
    this.pace = element("span", "quiet");
    this.saving = element("span", "saving quiet");
    this.saving.setAttribute("role", "status");
    this.fill = element("div", "");
    this.query = element("div", "query");
    this.query.dir = "auto";
    this.which = element("div", "which quiet");
    this.narrative = element("div", "narrative");
    this.narrative.dir = "auto";
    this.narrative.setAttribute("aria-label", "Narrative");
    this.question = element("div", "question", this.which, this.query, this.narrative);
    this.last = element("div", "last quiet");
    this.last.setAttribute("aria-live", "polite");
    this.document = element("div", "document");
    this.document.tabIndex = 0;
    this.document.setAttribute("aria-label", "Document");
    this.note = element("textarea", "");
    this.note.setAttribute("aria-label", "Note");
    this.note.maxLength = 2000;
    this.note.placeholder = "A note for readers of your judgement; Enter returns to the document";
    this.noteBox = element("div", "note", this.note);
    this.end = element("div", "end");
    this.buttons = element("div", "buttons");
    this.buildButtons();
    // A pointer that rests after a click must not highlight a grade for the next document.
    this.buttons.addEventListener("pointermove", () => this.buttons.classList.remove("answered"));
    this.work = element("div", "work", this.question, this.document, this.noteBox, this.buttons);
    const head = element("div", "head", this.progress, this.pace, this.saving);
    const top = element("div", "", head, element("div", "bar", this.fill));
    this.guideline = element("div", "guideline");
    this.grid.replaceChildren(top, this.guideline, element("div", "", this.work, this.end));
  }

  buildButtons() {
    for (const grade of this.data.grades)
      this.buttons.append(
        this.button(grade.name, grade.key, () => this.answer("grade", grade.relevance)));
    this.buttons.append(element("span", "gap"));
    this.doubt = this.button("Unsure", "u", () => this.doubtful(), "plain");
    this.doubt.title = "Mark the grade that you choose next as unsure";
    const skip = this.button("Skip", "s", () => this.answer("skip"), "plain");
    skip.title = "Leave this document to other assessors";
    this.back = this.button("Undo", "z", () => this.undo(), "plain");
    // All actions so far, except undo, concern the visible document.
    this.judges = new Set([...this.keys].filter(([key]) => key !== "z").map(([, act]) => act));
    const note = this.button("Note", "n", () => this.openNote(), "plain");
    this.buttons.append(this.doubt, skip, this.back, note, this.last);
  }

  doubtful() {
    this.unsure = !this.unsure;
    this.draw();
  }

  openNote() {
    this.noteBox.classList.add("open");
    this.note.focus();
  }

  showSheet() {
    const sheet = this.sheets.get(this.current);
    if (!sheet) return;
    this.query.replaceChildren(sheet.query);
    this.narrative.replaceChildren(sheet.narrative);
    this.narrative.hidden = !sheet.narrative;
    this.narrative.tabIndex = this.narrative.scrollHeight > this.narrative.clientHeight ? 0 : -1;
    const asked = `${sheet.query}\n\n${sheet.narrative}`;
    const same = this.asked === asked;
    if (!same) this.narrative.scrollTop = 0;
    this.which.textContent = this.asked === null ? "Query" : same ? "Same query" : "New query";
    this.which.classList.toggle("changed", this.asked !== null && !same);
    this.asked = asked;
    const remark = "No text was imported for this document: its id is shown.";
    const title = element("div", "title", ...marked(sheet.title));
    const body = sheet.bare ? element("div", "quiet", remark) : element("div", "", ...sheet.text.map(block));
    for (const part of [title, body]) part.dir = "auto";
    this.document.replaceChildren(title, body);
    this.document.scrollTop = 0;
  }

  draw() {
    const unsaved = { grade: 0, skip: 0 };
    for (const { act, undoes, entry } of this.log)
      if (this.unheard.has(entry)) continue;
      else if (act === "undo") unsaved[undoes] -= 1;
      else unsaved[act] += 1;
    const judged = Math.max(0, this.data.judged + unsaved.grade);
    const skipped = Math.max(0, this.data.skipped + unsaved.skip);
    const left = Math.max(0, this.data.left - unsaved.grade - unsaved.skip);
    const total = judged + skipped + left;
    this.progress.textContent = `${judged} of ${total} judged${skipped ? `, ${skipped} skipped` : ""}`;
    this.fill.style.width = `${total ? (100 * (total - left)) / total : 0}%`;
    const each = this.data.seconds;
    // A shorter time would be shown as 0 s each, beside a time left that is not 0.
    const shown = this.inSight;
    const paced = shown && each >= 0.05 && left && judged >= PACED;
    this.pace.textContent = paced ? `${duration(each)} each, ${duration(each * left)} left` : "";
    if (shown && !this.document.firstChild) this.showSheet();
    this.work.hidden = !shown;
    this.end.hidden = shown;
    if (!shown) this.drawEnd(judged, left);
    this.doubt.classList.toggle("on", this.unsure);
    this.doubt.setAttribute("aria-pressed", String(this.unsure));
    this.back.disabled = !this.history.length;
    this.drawGuideline();
    this.drawSaving();
  }

  drawSaving() {
    if (!this.log.length) this.unsavedSince = performance.now();
    const late = performance.now() - this.unsavedSince > 1500;
    const why = this.data.trouble ? `: ${this.data.trouble}` : "";
    const words = this.log.length ? `${this.log.length} not yet saved${why}` : "all saved";
    if (this.saving.textContent !== words) this.saving.textContent = words;
    this.saving.className = late ? "saving waiting" : "saving quiet";
  }

  drawEnd(judged, left) {
    if (this.closed) return this.end.replaceChildren(this.data.trouble);
    const back = this.history.length ? [" ", this.ended("Undo the last (Z)", () => this.undo())] : [];
    if (this.loads) {
      const none = this.ignored ? " A key pressed meanwhile is not counted." : "";
      return this.end.replaceChildren(`One moment: the next documents are loading.${none}`);
    }
    if (left)
      return this.end.replaceChildren(
        `${left} left, all reserved for other assessors; those not judged within 5 minutes will appear here.`, ...back);
    const skipped = this.data.skipped;
    const done = `All done: ${judged} judged${skipped ? `, ${skipped} skipped` : ""}.`;
    const words = `${done} Thank you. Everything is saved.`;
    const more = skipped ? [" ", this.ended("Return to the skipped documents", () => this.again())] : [];
    this.end.replaceChildren(words, element("br", ""), element("br", ""), ...more, ...back);
  }

  ended(label, act) {
    const made = element("button", "", label);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  unfold() {
    if (this.guideline.classList.toggle("open")) this.bring(this.guideline);
  }

  drawGuideline() {
    const version = `${this.data.version}`;
    if (this.guideline.dataset.version === version) return;
    this.guideline.dataset.version = version;
    this.grid.classList.toggle("guided", this.data.guideline.length > 0);
    this.guideline.replaceChildren();
    if (!this.data.guideline.length) return;
    const toggle = this.button("Guideline", "g", () => this.unfold(), "narrow");
    const body = element("div", "body", ...this.data.guideline.map(grown));
    this.guideline.append(element("div", "wide", "Guideline"), toggle, body);
  }
}

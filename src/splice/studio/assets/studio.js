// The page: one timeline, one view beside it, and what happens when a key is pressed.

import { columns, get, make, post, safely } from "./api.js";
import { Ask } from "./ask.js";
import { formatter } from "./clock.js";
import { Contradictions, Progress } from "./progress.js";
import { Rules } from "./rules.js";
import { $, furnish, meant, render } from "./shell.js";
import { Timeline } from "./timeline.js";
import { Why } from "./why.js";

const TABS = { ask: "Ask", why: "Why", rules: "Rules", contradictions: "Contradictions", progress: "Progress" };
const LEGEND = [["given-true", "labelled true "], ["given-false", "labelled false "], ["true", "believed true "], ["false", "believed false (paler: less sure) "], ["recognised", "recognised by rules "], ["event", "observed "]];
const HINT = "drag: move · wheel: zoom · shift and drag: mark · click: why";

class Studio {
  constructor() {
    this.timeline = new Timeline($("timeline"), {
      pick: (lane, layer, time) => this.pick(lane, layer, time),
      mark: (lane, from, to) => this.mark(lane, from, to),
    });
    this.views = { ask: new Ask(this), why: new Why(this), rules: new Rules(this), contradictions: new Contradictions(this), progress: new Progress(this) };
    this.open = "ask";
    this.number = -1;
    this.format = String;
    this.fired = null; // the text of a rule whose firings are shown
    this.acts = {
      ...furnish({
        timeline: this.timeline, tabs: TABS, legend: LEGEND, hint: HINT,
        load: (number) => this.load(number), show: (name) => this.show(name),
        buttons: [make("button", { id: "uncertain", title: "Next uncertain stretch (j)", onclick: () => this.uncertain() }, "Next uncertain"),
          make("button", { id: "undo", title: "Undo (u)", onclick: () => this.undo() }, "Undo")],
      }),
      j: () => this.uncertain(),
      u: () => this.undo(),
    };
    document.addEventListener("keydown", (event) => this.key(event));
  }

  async start() {
    this.state = await get("state");
    document.title = `${this.state.title} · studio`;
    $("title").textContent = this.state.title;
    $("sequence").append(...this.state.sequences.map((name, i) => make("option", { value: i }, name || "all")));
    await this.load(0);
    if (this.state.trouble) safely(() => { throw new Error(this.state.trouble); });
    await this.views.ask.next();
    this.render();
    document.body.dataset.ready = "yes";
    setInterval(() => safely(() => this.refresh()), 1500);
  }

  // Show a sequence as it is now.
  async load(number) {
    const [sequence, data] = await Promise.all([get("sequence", { n: number }), columns({ n: number })]);
    this.format = formatter(sequence);
    this.timeline.format = this.format;
    this.timeline.show(sequence, data, number === this.number);
    this.number = number;
    await this.fires(this.fired);
    $("sequence").value = number;
  }

  // Mark where a rule fires in the sequence that is shown; null: no rule.
  async fires(text) {
    this.fired = text;
    const found = text && await safely(() => get("rules/fires", { n: this.number, text }));
    this.timeline.fired = found ? found.intervals : [];
    this.timeline.draw();
    return found;
  }

  // Another window may have answered, or rules may be learned by now.
  async refresh() {
    const before = this.state.version;
    const state = await get("state");
    this.state = state;
    if (state.version !== before) {
      await this.load(this.number);
      if (this.open === "rules" && !this.views.rules.draft) await this.views.rules.load();
      if (this.open === "progress") await this.views.progress.load();
      if (this.open === "contradictions") await this.views.contradictions.load();
    }
    this.tell();
  }

  changed(state) {
    this.state = state;
    safely(() => this.load(this.number));
    this.tell();
  }

  tell() {
    const { labels, answers, rules, learning } = this.state;
    $("status").textContent = `${answers} answers · ${(labels.true + labels.false).toLocaleString()} labels · ${learning ? "learning ..." : `${rules} rules`}`;
  }

  async go(number, fluents, from, to, part) {
    if (number !== this.number) await this.load(number);
    this.timeline.attend(fluents);
    this.highlight(fluents, from, to, part);
    this.timeline.reveal(fluents, from, to);
  }

  highlight(fluents, from, to, part) {
    this.timeline.marked = { fluents, from, to, part };
    this.timeline.draw();
  }

  async pick(lane, layer, time) {
    if (lane.kind !== "fluent") return;
    this.highlight([lane.name], time, time + 1);
    this.show("why");
    await this.views.why.pick(this.number, [lane.name], layer, time);
  }

  mark(lane, from, to) {
    if (lane.kind !== "fluent") return;
    const question = this.views.ask.queue[0];
    if (this.open === "ask" && question && question.fluents.includes(lane.name)) { this.views.ask.mark([Math.floor(from), Math.ceil(to)]); return; }
    this.views.why.mark(this.number, [lane.name], from, to);
    this.highlight([lane.name], from, to);
    if (this.open !== "why") this.show("why"); else this.render();
  }

  async inspect(place) {
    await this.go(place.number, [place.fluent], place.time, place.time + 1);
    this.show("why");
    await this.views.why.pick(place.number, [place.fluent], 2, place.time);
  }

  show(name) {
    this.open = name;
    const view = this.views[name];
    if (view.load) view.load();
    if (name === "ask") safely(() => view.show());
    this.render();
  }

  render() {
    render(this.open, this.views[this.open].view().filter(Boolean));
    this.tell();
  }

  async undo() {
    await safely(async () => {
      this.changed(await post("undo"));
      this.views.ask.queue = [];
      await this.views.ask.next();
      if (this.views[this.open].load) await this.views[this.open].load();
      this.render();
    });
  }

  // Show the next stretch of doubt, and why: what is pressed there answers no question that is out of sight.
  async uncertain() {
    await safely(async () => {
      const found = await get("uncertain", { n: this.number, time: Math.floor((this.timeline.from + this.timeline.to) / 2) });
      if (!found) return;
      await this.go(found.number, found.fluents, found.from, found.to);
      this.show("why");
      await this.views.why.pick(found.number, found.fluents, 2, Math.floor((found.from + found.to) / 2), found.from, found.to);
    });
  }

  key(event) {
    if (!meant(event)) return;
    // The answer to a question comes first: arrows move the part that is marked.
    if (this.open === "ask" && this.views.ask.key(event)) event.preventDefault();
    else if (this.acts[event.key]) { this.acts[event.key](); event.preventDefault(); }
  }
}

const studio = new Studio();
safely(() => studio.start());
if (new URLSearchParams(location.search).has("measure")) window.studio = studio;

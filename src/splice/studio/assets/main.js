// The page: one timeline, one view beside it, and what happens when a key is pressed.

import { columns, get, make, post, safely } from "./api.js";
import { Ask } from "./ask.js";
import { formatter } from "./clock.js";
import { Contradictions, Progress } from "./progress.js";
import { Rules } from "./rules.js";
import { Timeline } from "./timeline.js";
import { Why } from "./why.js";

const $ = (id) => document.getElementById(id);

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
  }

  async start() {
    this.state = await get("state");
    document.title = `${this.state.title} · studio`;
    $("title").textContent = this.state.title;
    $("sequence").append(...this.state.sequences.map((name, i) => make("option", { value: i }, name || "all")));
    this.listen();
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
    $("sequence").value = number;
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
    $("status").textContent = `${answers} answers · ${labels.true + labels.false} labels · ${learning ? "learning ..." : `${rules} rules`}`;
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
    await this.views.why.pick(this.number, lane.name, layer, time);
  }

  mark(lane, from, to) {
    if (lane.kind !== "fluent") return;
    const question = this.views.ask.queue[0];
    if (this.open === "ask" && question && question.fluents.includes(lane.name)) { this.views.ask.mark([Math.floor(from), Math.ceil(to)]); return; }
    this.views.why.mark(this.number, lane.name, from, to);
    this.highlight([lane.name], from, to);
    if (this.open !== "why") this.show("why"); else this.render();
  }

  async inspect(place) {
    await this.go(place.number, [place.fluent], place.time, place.time + 1);
    this.show("why");
    await this.views.why.pick(place.number, place.fluent, 2, place.time);
  }

  show(name) {
    this.open = name;
    const view = this.views[name];
    if (view.load) view.load();
    if (name === "ask") safely(() => view.show());
    this.render();
  }

  render() {
    for (const tab of document.querySelectorAll("nav button")) tab.setAttribute("aria-selected", tab.dataset.view === this.open);
    $("view").replaceChildren(...this.views[this.open].view().filter(Boolean));
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

  async uncertain() {
    await safely(async () => {
      const found = await get("uncertain", { n: this.number, time: Math.floor((this.timeline.from + this.timeline.to) / 2) });
      if (found) await this.go(found.number, [found.fluent], found.from, found.to);
    });
  }

  listen() {
    for (const tab of document.querySelectorAll("nav button")) tab.addEventListener("click", () => this.show(tab.dataset.view));
    $("sequence").addEventListener("change", (event) => safely(() => this.load(Number(event.target.value))));
    $("search").addEventListener("input", (event) => this.timeline.filter(event.target.value));
    $("zoom-in").addEventListener("click", () => this.timeline.zoom(0.5));
    $("zoom-out").addEventListener("click", () => this.timeline.zoom(2));
    $("zoom-all").addEventListener("click", () => this.timeline.look(this.timeline.first, this.timeline.last));
    $("uncertain").addEventListener("click", () => this.uncertain());
    $("undo").addEventListener("click", () => this.undo());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = { "+": () => this.timeline.zoom(0.5), "-": () => this.timeline.zoom(2), 0: () => this.timeline.look(this.timeline.first, this.timeline.last), j: () => this.uncertain(), u: () => this.undo() };
    if (acts[event.key]) acts[event.key]();
    else if (!(this.open === "ask" && this.views.ask.key(event))) return;
    event.preventDefault();
  }
}

const studio = new Studio();
safely(() => studio.start());
if (new URLSearchParams(location.search).has("measure")) window.studio = studio;

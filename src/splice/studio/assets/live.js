// The page of a live run: what it says, how it stands, its rules; asked for again every second.

import { columns, get, make, safely } from "./api.js";
import { formatter } from "./clock.js";
import { Timeline } from "./timeline.js";

const $ = (id) => document.getElementById(id);
const count = (value) => (typeof value === "number" ? value.toLocaleString() : String(value));
const row = (...cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell)));
const soft = (text) => make("p", { class: "soft" }, text);

const views = {
  standing: ({ status }) => [make("table", {}, ...Object.entries(status).map(([name, value]) => row(name.replaceAll("_", " "), count(value))))],
  rules: ({ rules }) => (rules.length ? rules.map((text) => make("div", { class: "rule" }, make("code", {}, text))) : [soft("No rules yet.")]),
  told: ({ told }) => (told.length ? [...told].reverse().map((each) => make("div", { class: "rule" }, make("b", {}, each.type), make("div", {}, each.words))) : [soft("Rules and habits have not changed.")]),
  refused: ({ late, dead }) => [
    make("h2", {}, "Bad rows"), ...refused(dead, (each) => each.reason), make("h2", {}, "Late rows"), ...refused(late, () => "too late")],
};

function refused(rows, why) {
  if (!rows.length) return [soft("None of late.")];
  return [...rows].reverse().map((each) => make("div", { class: "rule" }, make("div", {}, `${each.feed} ${each.place}: ${why(each)}`), make("code", {}, each.row.slice(0, 300))));
}

class Live {
  constructor() {
    this.timeline = new Timeline($("timeline"), { pick: () => {}, mark: () => {} });
    this.open = "standing";
    this.sequence = null;
  }

  async start() {
    this.listen();
    await this.refresh();
    document.body.dataset.ready = "yes";
    const again = async () => { await safely(() => this.refresh()); setTimeout(again, 1000); };
    setTimeout(again, 1000);
  }

  async refresh() {
    const before = this.state;
    this.state = await get("live");
    document.title = `${this.state.title} · live`;
    $("title").textContent = this.state.title;
    const { status, sequences } = this.state;
    $("status").textContent = `${count(status.events)} events · ${count(status.intervals)} intervals · ${count(status.rules)} rules · ${count(status.late)} late · ${count(status.dead)} bad · ${status.drifts} drifts · checkpoint ${Math.round(status.age_seconds)} s ago`;
    if (String(before?.version) !== String(this.state.version)) {
      $("sequence").replaceChildren(...sequences.map((name, i) => make("option", { value: i }, name || "all")));
      await this.load(Math.max(0, sequences.indexOf(this.sequence)));
    }
    this.render();
  }

  // Show a sequence; who looks at all of it goes on to see all of it.
  async load(number) {
    const [sequence, data] = await Promise.all([get("sequence", { n: number }), columns({ n: number })]);
    const { timeline } = this;
    const name = this.state.sequences[number] ?? null;
    const whole = timeline.from === timeline.first && timeline.to === timeline.last;
    timeline.format = formatter(sequence);
    timeline.show(sequence, data, name === this.sequence && !whole);
    this.sequence = name;
    $("sequence").value = number;
    document.body.dataset.intervals = data.n;
  }

  render() {
    for (const tab of document.querySelectorAll("nav button")) tab.setAttribute("aria-selected", tab.dataset.view === this.open);
    $("view").replaceChildren(...views[this.open](this.state));
  }

  listen() {
    for (const tab of document.querySelectorAll("nav button")) tab.addEventListener("click", () => { this.open = tab.dataset.view; this.render(); });
    $("sequence").addEventListener("change", (event) => safely(() => this.load(Number(event.target.value))));
    $("search").addEventListener("input", (event) => this.timeline.filter(event.target.value));
    $("zoom-in").addEventListener("click", () => this.timeline.zoom(0.5));
    $("zoom-out").addEventListener("click", () => this.timeline.zoom(2));
    $("zoom-all").addEventListener("click", () => this.timeline.look(this.timeline.first, this.timeline.last));
  }
}

const live = new Live();
safely(() => live.start());

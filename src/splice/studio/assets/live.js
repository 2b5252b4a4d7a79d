// The page of a live run: what it says, how it stands, its rules; asked for again every second.

import { columns, get, make, safely } from "./api.js";
import { formatter } from "./clock.js";
import { $, furnish, meant, render } from "./shell.js";
import { Timeline } from "./timeline.js";

const TABS = { standing: "Standing", rules: "Rules", told: "Habits", refused: "Late and bad" };
const LEGEND = [["recognised", "recognised by the rules in use; the last thousand rows that were said "]];
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
    const acts = furnish({
      timeline: this.timeline, tabs: TABS, legend: LEGEND, hint: "drag: move · wheel: zoom",
      load: (number) => this.load(number), show: (name) => { this.open = name; this.render(); },
    });
    document.addEventListener("keydown", (event) => { if (meant(event) && acts[event.key]) { acts[event.key](); event.preventDefault(); } });
    $("status").setAttribute("aria-live", "polite");
  }

  async start() {
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
    render(this.open, views[this.open](this.state));
  }
}

const live = new Live();
safely(() => live.start());

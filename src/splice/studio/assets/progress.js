// Contradictions to be settled, and how far the labelling is.

import { get, make, safely } from "./api.js";
import { table } from "./rules.js";

export class Contradictions {
  constructor(studio) { this.studio = studio; }

  async load() {
    await safely(async () => { this.found = await get("contradictions"); });
    this.studio.render();
  }

  view() {
    if (!this.found) return [make("p", { class: "soft" }, "...")];
    if (!this.found.length) return [make("p", { class: "soft" }, "No pattern has been labelled both true and false.")];
    return this.found.map((each) => make("div", { class: "rule" },
      make("code", {}, each.pattern),
      make("div", {}, `${each.positives} true, ${each.negatives} false: ${each.outcome}`),
      make("div", { class: "answers" }, ...each.places.map((place) => make("button", { onclick: () => this.studio.inspect(place) }, `${place.sequence} ${place.fluent} ${place.when}: ${place.label}`)))));
  }
}

export class Progress {
  constructor(studio) { this.studio = studio; }

  async load() {
    await safely(async () => { this.scores = (await get("rules")).scores; });
    this.studio.render();
  }

  view() {
    const { state } = this.studio;
    const given = state.labels.true + state.labels.false;
    const rows = [
      ["answers", state.answers], ["labels", `${given.toLocaleString()} of ${state.points.toLocaleString()}: ${state.labels.true.toLocaleString()} true, ${state.labels.false.toLocaleString()} false`],
      ["believed true", state.believed.toLocaleString()], ["no label tells anything of", `${state.unreached.toLocaleString()} points`],
      ["changed by the last answer", `${state.changed.toLocaleString()} beliefs`], ["rules", state.learning ? `${state.rules}, learning ...` : state.rules], ["project", state.project],
    ];
    const canvas = make("canvas", { id: "curve" });
    requestAnimationFrame(() => curve(canvas, state.curve));
    return [
      make("table", {}, ...rows.map(([name, value]) => make("tr", {}, make("td", {}, name), make("td", {}, String(value))))),
      make("h2", {}, "How often the answer was what was believed"), canvas,
      make("p", { class: "soft" }, "Share of points of the last five answers, before each was known."),
      table("F1 of the rules", this.scores),
    ];
  }
}

function curve(canvas, answers) {
  const box = canvas.getBoundingClientRect();
  [canvas.width, canvas.height] = [box.width, box.height];
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.body);
  context.strokeStyle = style.getPropertyValue("--line");
  context.fillStyle = style.getPropertyValue("--soft");
  const y = (share) => 8 + (1 - share) * (box.height - 20);
  for (const share of [0, 0.5, 1]) {
    context.strokeRect(28, y(share), box.width - 28, 0);
    context.fillText(share.toFixed(1), 4, y(share) + 4);
  }
  context.strokeStyle = style.getPropertyValue("--accent");
  context.lineWidth = 2;
  context.beginPath();
  answers.forEach((_, i) => {
    const last = answers.slice(Math.max(0, i - 4), i + 1);
    const sum = (name) => last.reduce((total, each) => total + each[name], 0);
    context.lineTo(28 + ((i + 1) / Math.max(answers.length, 2)) * (box.width - 34), y(sum("right") / Math.max(1, sum("asked"))));
  });
  context.stroke();
}

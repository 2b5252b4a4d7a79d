// Why: what a label or an interval was worked out from; and a label for what is marked.

import { get, make, post, safely } from "./api.js";

// Lines of an explanation that are shown as a table or a list below it.
const TABLED = /^(what decides|like a pattern| {4})/;

export class Why {
  constructor(studio) {
    this.studio = studio;
    this.point = null;
  }

  // The fluents are labelled as one; the first is explained.
  async pick(number, fluents, layer, time, from = time, to = time + 1) {
    this.point = { number, fluents, time, from, to };
    this.said = null;
    await safely(async () => {
      const path = layer === 3 ? "why/interval" : "why/label";
      this.said = await get(path, { n: number, fluent: fluents[0], time });
      this.layer = layer;
    });
    this.studio.render();
  }

  mark(number, fluents, from, to) {
    this.point = { number, fluents, time: Math.floor(from), from: Math.floor(from), to: Math.ceil(to) };
    this.said = null;
  }

  async label(value) {
    const { number, fluents, from, to, time } = this.point;
    await safely(async () => {
      const part = { fluents, start: from, end: to, label: value };
      this.studio.changed(await post("answer", { sequence: number, parts: [part] }));
      await this.pick(number, fluents, 2, time, from, to);
    });
  }

  view() {
    if (!this.point) return [make("p", { class: "soft" }, "Click a label or an interval on the timeline.")];
    const { fluents, time, from, to } = this.point;
    const { format } = this.studio;
    const button = (text, value) => make("button", { onclick: () => this.label(value) }, text);
    return [
      make("h2", {}, `${fluents[0]} at ${format(time)}`),
      make("div", {}, to > from + 1 ? `Label ${format(from)} to ${format(to)}: ` : "Label it: ", button("true", true), " ", button("false", false), " ", button("unknown", null)),
      this.said && make("pre", { id: "said" }, this.said.text.split("\n").filter((line) => !TABLED.test(line)).join("\n")),
      decisive((this.said && this.said.decisive) || []),
      ...((this.said && this.said.neighbours) || []).map(neighbour),
    ];
  }
}

function decisive(literals) {
  const signed = (weight) => `${weight < 0 ? "" : "+"}${weight.toPrecision(3)}`;
  const row = (each) => make("tr", {}, make("td", {}, make("code", {}, each.literal)), make("td", {}, signed(each.weight)));
  return literals.length > 0 && make("table", { id: "decisive" },
    make("tr", {}, make("th", {}, "what decides"), make("th", {}, "weight")), ...literals.map(row));
}

function neighbour(each) {
  const differs = each.matches.filter((match) => match.cost > 0);
  return make("div", { class: "rule" },
    make("div", {}, `labelled ${each.label ? "true" : "false"} ${each.count.toLocaleString()} times · similarity ${each.similarity.toFixed(3)} · weight ${each.weight.toPrecision(3)}`),
    make("code", {}, each.rule),
    differs.length ? make("ul", {}, ...differs.map((match) => make("li", {}, match.other == null ? `here only: ${match.own}` : match.own == null ? `there only: ${match.other}` : `${match.own} instead of ${match.other}`))) : make("p", { class: "soft" }, "the same pattern"));
}

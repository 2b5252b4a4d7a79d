// Why: what a label or an interval was worked out from; and a label for what is marked.

import { get, make, post, safely } from "./api.js";

export class Why {
  constructor(studio) {
    this.studio = studio;
    this.point = null;
  }

  async pick(number, fluent, layer, time) {
    this.point = { number, fluent, time, from: time, to: time + 1 };
    this.said = null;
    await safely(async () => {
      const path = layer === 3 ? "why/interval" : "why/label";
      this.said = await get(path, { n: number, fluent, time });
      this.layer = layer;
    });
    this.studio.render();
  }

  mark(number, fluent, from, to) {
    this.point = { number, fluent, time: Math.floor(from), from: Math.floor(from), to: Math.ceil(to) };
    this.said = null;
  }

  async label(value) {
    const { number, fluent, from, to, time } = this.point;
    await safely(async () => {
      const part = { fluents: [fluent], start: from, end: to, label: value };
      this.studio.changed(await post("answer", { sequence: number, parts: [part] }));
      await this.pick(number, fluent, 2, time);
    });
  }

  view() {
    if (!this.point) return [make("p", { class: "soft" }, "Click a label or an interval on the timeline.")];
    const { fluent, from, to } = this.point;
    const { format } = this.studio;
    const button = (text, value) => make("button", { onclick: () => this.label(value) }, text);
    return [
      make("h2", {}, `${fluent} at ${format(from)}${to > from + 1 ? ` to ${format(to)}` : ""}`),
      make("div", {}, "Label it: ", button("true", true), " ", button("false", false), " ", button("unknown", null)),
      this.said && make("pre", { id: "said" }, this.said.text),
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
    differs.length ? make("ul", {}, ...differs.map((match) => make("li", {}, match.other == null ? `here only: ${match.own}` : match.own == null ? `there only: ${match.other}` : `${match.own} instead of ${match.other}`))) : make("p", { class: "soft" }, "the same situation"));
}

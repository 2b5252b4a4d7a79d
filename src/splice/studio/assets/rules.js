// Rules: what is learned, and what somebody holds on to. A change is tried before it is saved.

import { get, make, post, safely, Told } from "./api.js";

export class Rules {
  constructor(studio) {
    this.studio = studio;
    this.draft = null; // { text, old }
    this.fired = null; // where the rule fires whose firings are shown
  }

  async load() {
    await safely(async () => { Object.assign(this, await get("rules")); });
    this.studio.render();
  }

  // Show where a rule fires, or no longer.
  async fires(text) {
    this.fired = await this.studio.fires(this.studio.fired === text ? null : text);
    this.studio.render();
  }

  async change(action, text, old = "") {
    await safely(async () => {
      this.studio.changed(await post("rules/change", { action, text, instead_of: old }));
      this.draft = null;
      await this.load();
    });
  }

  async check() {
    const text = document.getElementById("draft").value;
    this.draft = { ...this.draft, text, problems: [], effect: null };
    try {
      this.draft.effect = await post("rules/check", { text, instead_of: this.draft.old });
    } catch (error) {
      this.draft.problems = error instanceof Told && error.problems.length ? error.problems : [{ message: error.message }];
    }
    this.studio.render();
    return !this.draft.problems.length;
  }

  async save() {
    const { old } = this.draft;
    if (await this.check()) await this.change("pin", this.draft.text, old === this.draft.text ? "" : old);
  }

  view() {
    if (!this.rules) return [make("p", { class: "soft" }, "...")];
    const button = (text, act, id) => make("button", { id, onclick: act }, text);
    const rule = (each, number) => make("div", { class: `rule ${each.state}` },
      make("div", {}, each.words),
      make("code", {}, each.text),
      make("div", { class: "soft" }, each.state === "learned" ? each.summary : `${each.state}. ${each.summary}`),
      this.studio.fired === each.text && this.fired && this.places(),
      each.story.length ? make("details", {}, make("summary", {}, "how it came about"), make("pre", {}, each.story.join("\n"))) : null,
      make("div", { class: "answers" },
        each.state !== "pinned" && button("pin", () => this.change("pin", each.text), `pin-${number}`),
        each.state !== "forbidden" && button("forbid", () => this.change("forbid", each.text), `forbid-${number}`),
        each.state !== "learned" && button("leave it to the learner", () => this.change("release", each.text)),
        button(this.studio.fired === each.text ? "hide where it fires" : "where it fires", () => this.fires(each.text), `fires-${number}`),
        button("edit", () => { this.draft = { text: each.text, old: each.text }; this.studio.render(); }, `edit-${number}`)));
    return [
      this.draft ? this.editor(button) : button("write a rule", () => { this.draft = { text: "", old: "" }; this.studio.render(); }, "write"),
      table("F1 of the rules", this.scores),
      ...(this.rules.length ? this.rules.map(rule) : [make("p", { class: "soft" }, "No rules yet: they need true and false labels.")]),
    ];
  }

  places() {
    const { right, wrong, places } = this.fired;
    return make("div", { class: "soft", id: "fired" },
      `fires ${right.toLocaleString()} times as is believed (dark, below the lanes) and ${wrong.toLocaleString()} times otherwise (red)${places.length ? ", first at " : "."}`,
      make("span", { class: "answers" }, ...places.map((place) => make("button", { onclick: () => this.studio.inspect(place) }, `${place.sequence} ${place.fluent} ${place.when}`))));
  }

  editor(button) {
    const { text, problems = [], effect } = this.draft;
    return make("div", { class: "rule pinned" },
      make("textarea", { id: "draft", spellcheck: "false", "aria-label": "A rule" }, text),
      make("div", { class: "answers" }, button("check", () => this.check(), "check"), button("save and pin", () => this.save(), "save"), button("cancel", () => { this.draft = null; this.studio.render(); })),
      ...problems.map((p) => make("pre", { class: "bad" }, `${p.line ? `line ${p.line}, column ${p.column}: ` : ""}${p.message}${p.hint ? `\nhint: ${p.hint}` : ""}`)),
      effect && table("before", effect.before), effect && table("after", effect.after));
  }
}

const number = (value) => (value == null ? "no true label" : value.toFixed(3));

export function table(title, scores) {
  return make("table", {},
    make("tr", {}, ...[title, "given labels", "believed"].map((text) => make("th", {}, text))),
    ...Object.entries(scores || {}).map(([name, each]) => make("tr", {}, ...[name, number(each.given), number(each.believed)].map((text) => make("td", {}, text)))));
}

// Ask: one question after the other; each answer is on disk before the next is shown.

import { get, make, post, safely } from "./api.js";

export class Ask {
  constructor(studio) {
    this.studio = studio;
    this.queue = [];
    this.part = null;
  }

  async next() {
    if (!this.queue.length) this.queue = (await get("questions", { count: 3 })) || [];
    this.part = null;
    await this.show();
  }

  async show() {
    const question = this.queue[0];
    if (!question) return;
    await this.studio.go(question.number, question.fluents, question.from, question.to, this.part);
  }

  async answer(label) {
    const question = this.queue[0];
    if (!question || this.busy) return;
    this.busy = true; // a key pressed before the next question is seen is no answer to it
    document.body.dataset.busy = "yes";
    await safely(async () => {
      const { fluents, from, to } = question;
      const piece = (start, end, value) => ({ fluents, start, end, label: value });
      const [a, b] = this.part || [from, to];
      const parts = this.part
        ? [piece(from, a, false), piece(a, b, true), piece(b, to, false)].filter((each) => each.start < each.end)
        : [piece(from, to, label)];
      this.studio.changed(await post("answer", { sequence: question.number, parts }));
      this.queue = [];
      await this.next();
    });
    this.busy = false;
    this.studio.render();
    delete document.body.dataset.busy;
  }

  // Mark a part: that part is true, the rest of the stretch false.
  mark(part) {
    const question = this.queue[0];
    if (!question) return;
    const inside = (time) => Math.max(question.from, Math.min(question.to, time));
    this.part = part ? [inside(part[0]), inside(part[1])] : null;
    this.studio.highlight(question.fluents, question.from, question.to, this.part);
    this.studio.render();
  }

  // Move a border of the part by one time-point.
  shift(border, steps) {
    const { times, to } = this.queue[0];
    const places = [...times, to];
    const place = Math.max(0, places.findIndex((time) => time >= this.part[border]));
    const part = [...this.part];
    part[border] = places[Math.max(0, Math.min(places.length - 1, place + steps))];
    if (part[0] < part[1]) this.mark(part);
  }

  skip() {
    this.queue.push(this.queue.shift());
    this.part = null;
    safely(() => this.show());
    this.studio.render();
  }

  key(event) {
    const { key } = event;
    const question = this.queue[0];
    if (!question) return false;
    if (this.part && key.startsWith("Arrow") && ["ArrowLeft", "ArrowRight"].includes(key)) this.shift(event.shiftKey ? 1 : 0, key === "ArrowRight" ? 1 : -1);
    else if (this.part && key === "Enter") this.answer(true);
    else if (this.part && key === "Escape") this.mark(null);
    else if (key === "y") { this.part = null; this.answer(true); }
    else if (key === "n") { this.part = null; this.answer(false); }
    else if (key === "s") this.skip();
    else if (key === "p") this.mark([question.times[Math.floor(question.times.length / 4)], question.times[Math.ceil((question.times.length * 3) / 4)] ?? question.to]);
    else return false;
    return true;
  }

  view() {
    const question = this.queue[0];
    if (!question) return [make("p", { class: "soft" }, "There is nothing left to ask about.")];
    const { format } = this.studio;
    const believed = question.believed == null ? "nothing is believed yet" : `believed so far: ${Math.round(question.believed * 100)} % of it true`;
    const button = (id, key, text, act) => make("button", { id, onclick: act }, make("kbd", {}, key), ` ${text}`);
    return [
      make("div", { class: "question" },
        make("div", { class: "soft" }, `${question.sequence} · ${format(question.from)} to ${format(question.to)}`),
        make("div", { class: "fluent", id: "fluent" }, `${question.fluents[0]} ?`),
        make("p", { class: "reason" }, question.reason),
        make("p", { class: "soft" }, `${believed}; ${question.points} points without a label`),
        this.part && make("p", {}, `true from ${format(this.part[0])} to ${format(this.part[1])}, false in the rest`),
        make("div", { class: "answers" },
          button("yes", "y", "true", () => { this.part = null; this.answer(true); }),
          button("no", "n", "false", () => { this.part = null; this.answer(false); }),
          this.part ? button("confirm", "Enter", "so it is", () => this.answer(true)) : button("part", "p", "in part", () => this.key({ key: "p" })),
          button("skip", "s", "skip", () => this.skip()))),
      make("p", { class: "soft" }, "In part: ", make("kbd", {}, "←"), make("kbd", {}, "→"), " move its start, with shift its end; or drag with shift on the timeline. ", make("kbd", {}, "u"), " takes the last answer back."),
    ];
  }
}

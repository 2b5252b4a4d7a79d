// The timeline: lanes of intervals on one canvas.
//
// Each band of a lane is painted as one row of pixels, then stretched to its height: what is drawn costs
// what is visible, whatever there is in all. The intervals of a band are ordered and do not overlap, so
// the first visible one is found by bisection, and so is the one below the mouse.

const LABELS = 150;
const AXIS = 22;
const BANDS = { 1: [3, 6], 2: [10, 9], 3: [20, 4], 0: [3, 9] }; // layer: offset and height in its lane
const HEIGHT = { fluent: 28, event: 15 };

const abgr = (r, g, b, a) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;
const shade = (value) => {
  const a = Math.round(40 + (Math.abs(value) * 150) / 1000);
  return value > 0 ? abgr(58, 134, 224, a) : abgr(226, 120, 66, Math.round(a * 0.62));
};
const colour = (layer, value) => {
  if (layer === 0) return abgr(125, 133, 144, 255);
  if (layer === 1) return value > 0 ? abgr(11, 98, 196, 255) : abgr(194, 65, 12, 255);
  if (layer === 3) return abgr(15, 157, 120, 255);
  return shade(value);
};

export class Timeline {
  constructor(canvas, on) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.off = document.createElement("canvas");
    this.on = on; // { pick(lane, layer, time), mark(lane, from, to) }
    this.lanes = [];
    this.shown = [];
    this.scroll = 0;
    this.words = [];
    this.marked = null;
    this.focus = [];
    this.fired = []; // where a rule fires: lane's name, from, to, whether it is right
    this.format = String;
    this.drawn = 0;
    this.listen();
  }

  // Show a sequence: its lanes and columns; keep the view where it is the same one.
  show(sequence, data, keep) {
    this.lanes = sequence.lanes;
    [this.first, this.last] = [sequence.first, sequence.last];
    this.data = data;
    this.index = new Map();
    for (let i = 0; i < data.n; ) {
      const [lane, layer] = [data.lane[i], data.layer[i]];
      let j = i;
      while (j < data.n && data.lane[j] === lane && data.layer[j] === layer) j += 1;
      this.index.set(lane * 4 + layer, [i, j]);
      i = j;
    }
    if (!keep) {
      [this.from, this.to] = [this.first, this.last];
      this.scroll = 0;
    }
    this.filter(this.words.join(" "));
  }

  // Show the lanes whose names have all of some words, in an order that helps to judge what is asked.
  filter(text) {
    this.words = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const wanted = (lane) => this.words.every((word) => lane.name.toLowerCase().includes(word));
    const ranked = this.lanes.map((lane, number) => ({ ...lane, number, rank: this.rank(lane, number) }));
    this.shown = ranked.filter(wanted).sort((a, b) => a.rank - b.rank || a.name.localeCompare(b.name, undefined, { numeric: true }));
    let y = AXIS;
    for (const lane of this.shown) { lane.y = y; y += HEIGHT[lane.kind]; }
    this.height = y;
    this.draw();
  }

  // What is asked about, then what is observed of its entities, then what holds, then the rest.
  rank(lane, number) {
    if (this.focus.includes(lane.name)) return 0;
    const entities = new Set(this.focus.flatMap(constants));
    const own = constants(lane.name).filter((name) => entities.has(name)).length;
    if (lane.kind === "event") return own && own === constants(lane.name).filter((name) => /\D/.test(name)).length ? 1 : own ? 3 : 5;
    return this.holds(number) ? 2 : 4;
  }

  // Put the lanes first that help to judge some fluents.
  attend(fluents) {
    if (this.focus.join() === fluents.join()) return;
    this.focus = fluents;
    this.filter(this.words.join(" "));
  }

  holds(lane) {
    for (const layer of [1, 2, 3]) {
      const [i, j] = this.index.get(lane * 4 + layer) || [0, 0];
      for (let k = i; k < j; k += 1) if (this.data.value[k] > 0) return true;
    }
    return false;
  }

  // Ask for a picture; many requests before the next frame are one.
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.paint(); });
  }

  x(time) { return LABELS + ((time - this.from) / (this.to - this.from)) * (this.width - LABELS); }
  time(x) { return this.from + ((x - LABELS) / (this.width - LABELS)) * (this.to - this.from); }

  paint() {
    const begun = performance.now();
    const { canvas, context } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const box = canvas.getBoundingClientRect();
    if (canvas.width !== Math.round(box.width * ratio) || canvas.height !== Math.round(box.height * ratio)) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
    }
    [this.width, this.tall] = [box.width, box.height];
    this.scroll = Math.max(0, Math.min(this.scroll, this.height - this.tall));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    const style = getComputedStyle(document.body);
    const [ink, soft, line, paper, bad] = ["--ink", "--soft", "--line", "--paper", "--bad"].map((name) => style.getPropertyValue(name));
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const visible = this.shown.filter((lane) => lane.y - this.scroll < this.tall && lane.y + 30 - this.scroll > AXIS);
    this.bands(visible, ratio);
    context.fillStyle = ink;
    for (const lane of visible) {
      const y = lane.y - this.scroll;
      context.fillStyle = lane.kind === "event" ? soft : ink;
      context.fillText(lane.name, 4, y + HEIGHT[lane.kind] / 2, LABELS - 10);
      context.fillStyle = line;
      context.fillRect(LABELS, y + HEIGHT[lane.kind] - 1, this.width - LABELS, 1);
    }
    this.overlay(ink, bad);
    this.axis(soft, paper);
    this.drawn = performance.now() - begun;
    if (!this.pictured && this.data) { this.pictured = performance.now(); canvas.dataset.pictured = Math.round(this.pictured); }
  }

  bands(visible, ratio) {
    const wide = Math.max(1, Math.round((this.width - LABELS) * ratio));
    const rows = [];
    for (const lane of visible) {
      for (const layer of lane.kind === "event" ? [0] : [1, 2, 3]) {
        const range = this.index.get(lane.number * 4 + layer);
        if (range) rows.push([lane, layer, range]);
      }
    }
    if (!rows.length) return;
    const image = new ImageData(wide, rows.length);
    const pixels = new Uint32Array(image.data.buffer);
    const { start, end, value } = this.data;
    const [from, to] = [this.from - this.first, this.to - this.first];
    const scale = wide / (to - from);
    rows.forEach(([, layer, [i, j]], row) => {
      let [low, high] = [i, j];
      while (low < high) { const middle = (low + high) >> 1; if (end[middle] <= from) low = middle + 1; else high = middle; }
      for (let k = low; k < j && start[k] < to; k += 1) {
        const a = Math.max(0, Math.floor((start[k] - from) * scale));
        const b = Math.min(wide, Math.max(a + 1, Math.floor((end[k] - from) * scale)));
        pixels.fill(colour(layer, value[k]), row * wide + a, row * wide + b);
      }
    });
    [this.off.width, this.off.height] = [wide, rows.length];
    this.off.getContext("2d").putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = false;
    rows.forEach(([lane, layer], row) => {
      const [offset, height] = BANDS[layer];
      this.context.drawImage(this.off, 0, row, wide, 1, LABELS, lane.y - this.scroll + offset, this.width - LABELS, height);
    });
  }

  overlay(ink, bad) {
    const lane = new Map(this.fired.length ? this.shown.map((each) => [each.name, each]) : []);
    for (const [name, from, to, right] of this.fired) {
      if (!lane.has(name) || to < this.from || from > this.to) continue;
      const a = Math.max(LABELS, this.x(from));
      this.context.fillStyle = right ? ink : bad;
      this.context.fillRect(a, lane.get(name).y - this.scroll + 25, Math.max(1, this.x(to) - a), 3);
    }
    if (!this.marked) return;
    const lanes = this.shown.filter((lane) => this.marked.fluents.includes(lane.name));
    this.context.strokeStyle = ink;
    this.context.lineWidth = 2;
    for (const lane of lanes) {
      const [a, b] = [Math.max(LABELS, this.x(this.marked.from)), this.x(this.marked.to)];
      if (b > LABELS) this.context.strokeRect(a, lane.y - this.scroll + 1, b - a, HEIGHT[lane.kind] - 3);
      if (!this.marked.part) continue;
      const [c, d] = this.marked.part.map((time) => Math.max(LABELS, this.x(time)));
      this.context.fillStyle = "rgba(11, 98, 196, .35)";
      this.context.fillRect(c, lane.y - this.scroll + 1, d - c, HEIGHT[lane.kind] - 3);
    }
  }

  axis(soft, paper) {
    const { context } = this;
    context.fillStyle = paper;
    context.fillRect(0, 0, this.width, AXIS);
    context.fillStyle = soft;
    const room = 30 + context.measureText(this.format(this.to)).width;
    const step = nice((this.to - this.from) / Math.max(2, (this.width - LABELS) / room));
    for (let time = Math.ceil(this.from / step) * step; time < this.to; time += step) {
      context.fillRect(this.x(time), AXIS - 5, 1, 5);
      context.fillText(this.format(time), this.x(time) + 3, AXIS / 2);
    }
  }

  // Zoom about a time, by a factor; a view never leaves the sequence.
  zoom(factor, about = (this.from + this.to) / 2) {
    const span = Math.max(2, Math.min(this.last - this.first, (this.to - this.from) * factor));
    const share = (about - this.from) / (this.to - this.from);
    this.look(about - share * span, about + (1 - share) * span);
  }

  pan(share) {
    const step = share * (this.to - this.from);
    this.look(this.from + step, this.to + step);
  }

  look(from, to) {
    const span = Math.min(to - from, this.last - this.first);
    this.from = Math.max(this.first, Math.min(from, this.last - span));
    this.to = this.from + span;
    this.draw();
  }

  // Put a stretch of some lanes into view, with some room around it.
  reveal(fluents, from, to) {
    const room = (to - from) * 2;
    this.look(from - room, to + room);
    const lane = this.shown.find((each) => fluents.includes(each.name));
    if (lane && (lane.y - this.scroll < AXIS || lane.y + HEIGHT[lane.kind] - this.scroll > this.tall)) this.scroll = lane.y - AXIS - 60;
    this.draw();
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const lane = y > AXIS ? this.shown.find((each) => y >= each.y - this.scroll && y < each.y - this.scroll + HEIGHT[each.kind]) : undefined;
    let layer = 2;
    if (lane && lane.kind === "fluent") for (const l of [1, 2, 3]) if (y - lane.y + this.scroll >= BANDS[l][0] - 1) layer = l;
    if (layer === 3 && !this.covered(lane, layer, this.time(x))) layer = 2; // no rule has said anything there
    return { x, y, lane, layer, time: this.time(x) };
  }

  covered(lane, layer, time) {
    const [i, j] = this.index.get(lane.number * 4 + layer) || [0, 0];
    const { start, end, value } = this.data;
    for (let k = i; k < j; k += 1) if (start[k] <= time - this.first && time - this.first < end[k]) return value[k] > 0;
    return false;
  }

  listen() {
    let held = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      held = { ...this.at(event), from: this.from, to: this.to, scroll: this.scroll, moved: false, shift: event.shiftKey };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!held || !this.data) return;
      const now = this.at(event);
      if (Math.abs(now.x - held.x) + Math.abs(now.y - held.y) > 3) held.moved = true;
      if (!held.moved) return;
      if (held.shift) {
        if (held.lane) this.on.mark(held.lane, Math.min(held.time, now.time), Math.max(held.time, now.time));
        return;
      }
      const shift = ((held.x - now.x) / (this.width - LABELS)) * (held.to - held.from);
      this.scroll = held.scroll + held.y - now.y;
      this.look(held.from + shift, held.to + shift);
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved && held.lane && held.x > LABELS) this.on.pick(held.lane, this.at(event).layer, Math.floor(held.time));
      held = null;
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { this.scroll += event.deltaY || event.deltaX; this.draw(); return; }
      this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, Math.max(this.from, this.at(event).time));
    }, { passive: false });
    new ResizeObserver(() => this.data && this.draw()).observe(this.canvas);
  }
}

const constants = (name) => (name.match(/\((.*)\)/)?.[1] ?? "").split(",").filter(Boolean);

function nice(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(step, 1)));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= step) || power * 10;
}

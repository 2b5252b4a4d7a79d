// What the page of a studio and that of a live run have in common: a timeline, buttons, and tabs.

import { make, safely } from "./api.js";

export const $ = (id) => document.getElementById(id);

// Fill the empty page. `tabs` are names and titles of views, `legend` is colours and what they mean, `load` shows a sequence.
export function furnish({ timeline, tabs, legend, hint, load, show, buttons = [] }) {
  $("legend").append(...legend.flatMap(([colour, text]) => [make("i", { class: colour }), text]), make("span", {}, hint));
  $("buttons").append(...buttons);
  document.querySelector("nav").append(...Object.entries(tabs).map(([name, title]) => make("button", { role: "tab", "data-view": name, onclick: () => show(name) }, title)));
  $("sequence").addEventListener("change", (event) => safely(() => load(Number(event.target.value))));
  $("search").addEventListener("input", (event) => timeline.filter(event.target.value));
  const acts = {
    "+": () => timeline.zoom(0.5),
    "-": () => timeline.zoom(2),
    0: () => timeline.look(timeline.first, timeline.last),
    ArrowLeft: () => timeline.pan(-0.25),
    ArrowRight: () => timeline.pan(0.25),
  };
  for (const [id, key] of [["zoom-in", "+"], ["zoom-out", "-"], ["zoom-all", "0"]]) $(id).addEventListener("click", acts[key]);
  return acts;
}

// Whether a key that was pressed is meant for the page.
export function meant(event) {
  return !(event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey);
}

// Show a view, and which tab it belongs to.
export function render(open, children) {
  for (const tab of document.querySelectorAll("nav button")) tab.setAttribute("aria-selected", tab.dataset.view === open);
  $("view").replaceChildren(...children);
}

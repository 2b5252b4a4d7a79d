"use strict";
// Tabs, figures that are drawn when they are first seen, and the timeline's buttons.
(function () {
  const root = document.documentElement;
  const tabs = Array.from(document.querySelectorAll("[role=tab]"));
  const panels = Array.from(document.querySelectorAll(".tab"));
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const config = {
    displaylogo: false, responsive: true, doubleClick: "reset", doubleClickDelay: 450,
    modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
  };
  root.classList.add("js");

  function colours() {
    const style = getComputedStyle(root);
    const pick = (name) => style.getPropertyValue(name).trim();
    return { ink: pick("--ink"), soft: pick("--soft"), line: pick("--line"), grid: pick("--grid"), raised: pick("--raised") };
  }

  function themed(layout) {
    const now = colours();
    const change = {
      "font.color": now.ink, "hoverlabel.bgcolor": now.raised,
      "hoverlabel.bordercolor": now.line, "hoverlabel.font.color": now.ink,
      "modebar.color": now.soft, "modebar.activecolor": now.ink, "modebar.bgcolor": "rgba(0,0,0,0)",
    };
    for (const name of Object.keys(layout)) {
      if (/^[xy]axis\d*$/.test(name)) {
        change[name + ".gridcolor"] = now.grid;
        change[name + ".linecolor"] = now.line;
        change[name + ".tickcolor"] = now.line;
      }
    }
    return change;
  }

  function assign(layout, change) {
    for (const [path, value] of Object.entries(change)) {
      const keys = path.split(".");
      const last = keys.pop();
      let inside = layout;
      for (const key of keys) inside = inside[key] = inside[key] || {};
      inside[last] = value;
    }
    return layout;
  }

  function draw(plot) {
    if (plot.dataset.drawn || typeof Plotly === "undefined") return;
    plot.dataset.drawn = "yes";
    const spec = JSON.parse(document.getElementById(plot.id + "-data").textContent);
    Plotly.newPlot(plot, spec.data, assign(spec.layout, themed(spec.layout)), config);
  }

  function show(tab, focus) {
    tabs.forEach(function (other) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
    });
    panels.forEach(function (panel) { panel.hidden = panel.id !== tab.getAttribute("aria-controls"); });
    const panel = document.getElementById(tab.getAttribute("aria-controls"));
    panel.querySelectorAll(".plot").forEach(function (plot) {
      if (plot.dataset.drawn) Plotly.Plots.resize(plot); else draw(plot);
    });
    if (focus) tab.focus();
  }

  function name(tab) {
    return tab.id.replace(/^tab-/, "");
  }

  function range(plot) {
    return plot.layout.xaxis.range.map(Number);
  }

  function move(plot, how) {
    const whole = [Number(plot.dataset.start), Number(plot.dataset.end)];
    let [low, high] = range(plot);
    const width = high - low;
    if (how === "in") { low += width / 4; high -= width / 4; }
    if (how === "out") { low -= width / 2; high += width / 2; }
    if (how === "left") { low -= width / 2; high -= width / 2; }
    if (how === "right") { low += width / 2; high += width / 2; }
    if (how === "all" || high - low >= whole[1] - whole[0]) [low, high] = whole;
    if (low < whole[0]) { high += whole[0] - low; low = whole[0]; }
    if (high > whole[1]) { low -= high - whole[1]; high = whole[1]; }
    return Plotly.relayout(plot, { "xaxis.range": [low, high] });
  }

  tabs.forEach(function (tab, i) {
    tab.addEventListener("click", function () {
      show(tab, false);
      history.replaceState(null, "", "#" + name(tab));
    });
    tab.addEventListener("keydown", function (event) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) show(tabs[(i + step + tabs.length) % tabs.length], true);
    });
  });
  document.querySelectorAll(".tools button").forEach(function (button) {
    button.addEventListener("click", function () {
      move(document.getElementById(button.dataset.plot), button.dataset.move);
    });
  });
  dark.addEventListener("change", function () {
    document.querySelectorAll(".plot[data-drawn]").forEach(function (plot) {
      Plotly.relayout(plot, themed(plot.layout));
    });
  });
  window.addEventListener("beforeprint", function () {
    panels.forEach(function (panel) { panel.hidden = false; });
    document.querySelectorAll(".plot").forEach(draw);
  });
  window.addEventListener("afterprint", function () {
    show(tabs.find((tab) => tab.getAttribute("aria-selected") === "true") || tabs[0], false);
  });
  const asked = location.hash.slice(1);
  if (tabs.length) show(tabs.find((tab) => name(tab) === asked) || tabs[0], false);
})();

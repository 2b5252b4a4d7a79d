// Speaking to the server: JSON and columns, and errors told in the page.

export class Told extends Error {
  constructor(body) {
    super([body.error, body.hint && `hint: ${body.hint}`].filter(Boolean).join("\n"));
    this.problems = body.problems || [];
  }
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Told({ error: "the studio does not answer", hint: "start it again: nothing is lost" });
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  let body = { error: text };
  try { body = JSON.parse(text); } catch { /* a plain refusal */ }
  throw new Told(body);
}

export async function get(path, query = {}) {
  return (await ask(`/api/${path}?${new URLSearchParams(query)}`)).json();
}

export async function post(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return (await ask(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

// Five columns of numbers, one after the other: lane, layer, start, end, value.
export async function columns(query) {
  const all = new Float64Array(await (await ask(`/api/columns?${new URLSearchParams(query)}`)).arrayBuffer());
  const n = all.length / 5;
  const [lane, layer, start, end, value] = [0, 1, 2, 3, 4].map((i) => all.subarray(i * n, (i + 1) * n));
  return { n, lane, layer, start, end, value };
}

let hiding;
export function toast(message) {
  const box = document.getElementById("toast");
  box.textContent = message;
  box.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { box.hidden = true; }, 7000);
}

// Run something, and tell in the page what goes wrong.
export async function safely(work) {
  try {
    return await work();
  } catch (error) {
    toast(error.message);
    if (!(error instanceof Told)) console.error(error);
    return undefined;
  }
}

// An element with attributes and children; text is always text, never markup.
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null && child !== false));
  return node;
}

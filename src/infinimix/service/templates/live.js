"use strict";
const $ = (id) => document.getElementById(id);
const SVG = $("plot-error").namespaceURI;
const MOST = 600;
let history = [], token = sessionStorage.getItem("infinimix-token") || "", chosen = null;

const number = (x, digits) => x === null || x === undefined ? "–" : x.toFixed(digits);
const percent = (x) => x === null || x === undefined ? "–" : (100 * x).toFixed(1) + "%";
const count = (x) => Math.round(x).toLocaleString("en");
const headers = () => token ? { authorization: "Bearer " + token } : {};

function make(tag, text, kind) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
}
function shape(svg, tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  svg.append(node);
}
function axes(svg, top, left, right, show) {
  svg.replaceChildren();
  for (const share of [0, 0.5, 1]) {
    const y = 160 - 145 * share;
    shape(svg, "line", { x1: 52, x2: 412, y1: y, y2: y, class: "rule" });
    shape(svg, "text", { x: 46, y: y + 4, class: "end" }, show(top * share));
  }
  shape(svg, "text", { x: 52, y: 182 }, left);
  shape(svg, "text", { x: 412, y: 182, class: "end" }, right);
}
function draw(id, key, show, least) {
  const svg = $(id), points = history.filter((p) => p[key] !== null && p[key] !== undefined);
  const top = points.reduce((most, p) => Math.max(most, p[key]), least);
  const start = points.length ? points[0].time : 0, end = points.length ? points.at(-1).time : 0;
  axes(svg, top, points.length ? Math.round(end - start) + " s ago" : "", points.length ? "now" : "no rows yet", show);
  const place = (p) => [52 + 360 * (p.time - start) / Math.max(end - start, 1e-9), 160 - 145 * p[key] / top];
  if (points.length > 1)
    shape(svg, "polyline", { class: "curve", points: points.map((p) => place(p).map((v) => v.toFixed(1)).join(",")).join(" ") });
  svg.dataset.points = points.length;
}
function calibration(found) {
  const svg = $("plot-calibration");
  axes(svg, 1, "confidence 0%", "100%", (x) => Math.round(100 * x) + "%");
  shape(svg, "line", { x1: 52, y1: 160, x2: 412, y2: 15, class: "ideal" });
  const most = Math.max(1, ...found.bins.map((b) => b.rows));
  for (const b of found.bins)
    shape(svg, "circle", { cx: 52 + 360 * b.confidence, cy: 160 - 145 * b.right, r: 3 + 6 * Math.sqrt(b.rows / most), class: "dot" });
}
function typical(values) {
  const list = make("dl");
  for (const [name, value] of Object.entries(values).slice(0, 12)) {
    const line = make("div");
    line.append(make("dt", name), make("dd", typeof value === "number" ? String(Number(value.toPrecision(3))) : String(value)));
    list.append(line);
  }
  return list;
}
function card(one) {
  const box = make("div", undefined, "prototype"), told = make("p", "", "told"), row = make("div", undefined, "fields");
  const share = make("p", count(one.rows) + (one.rows === 1 ? " row " : " rows "), "share");
  share.append(make("span", "number " + one.id));
  const label = make("label", "Name"), field = make("input"), button = make("button", "Name it");
  field.id = "name-" + one.id; label.htmlFor = field.id; field.maxLength = 1000; button.type = "button";
  const name = async () => {
    if (!field.value.trim()) { told.textContent = "Write a name first."; field.focus(); return; }
    button.disabled = true;
    try {
      const answer = await fetch("provisional/" + encodeURIComponent(one.id) + "/name", {
        method: "POST", headers: { "content-type": "application/json", ...headers() },
        body: JSON.stringify({ name: field.value.trim() }),
      });
      told.textContent = answer.ok ? "" : (await answer.json()).detail;
      if (answer.ok) box.remove();
    } catch { told.textContent = "The service does not answer."; }
    button.disabled = false;
  };
  button.onclick = name;
  field.onkeydown = (event) => { if (event.key === "Enter") name(); };
  row.append(field, button);
  box.append(share, typical(one.typical), label, row, told);
  box.dataset.id = one.id;
  return box;
}
function waiting(found, open) {
  $("new").hidden = !open;
  const ids = new Set(found.map((one) => String(one.id)));
  for (const box of [...$("waiting").children]) if (!ids.has(box.dataset.id)) box.remove();
  for (const one of found) {
    const old = [...$("waiting").children].find((box) => box.dataset.id === String(one.id));
    if (!old) $("waiting").append(card(one));
    else if (!old.contains(document.activeElement)) {
      old.querySelector(".share").firstChild.textContent = count(one.rows) + (one.rows === 1 ? " row " : " rows ");
      old.querySelector("dl").replaceWith(typical(one.typical));
    }
  }
  if (!found.length) $("waiting").replaceChildren(make("p", "There are none at present.", "note"));
  else $("waiting").querySelectorAll(":scope > p").forEach((p) => p.remove());
}
async function choose(name) {
  chosen = name;
  const answer = await fetch("classes/" + encodeURIComponent(name), { headers: headers() });
  if (chosen !== name) return;
  const box = $("chosen"), found = await answer.json();
  box.replaceChildren(make("h3", String(name)));
  if (!answer.ok) { box.append(make("p", found.detail, "note")); return; }
  const cards = make("div", undefined, "prototypes");
  const groups = found.prototypes || [{ rows: found.rows, typical: found.typical }];
  for (const group of groups) {
    const one = make("div", undefined, "prototype"), share = make("p", count(group.rows) + " rows ", "share");
    if (group.weight !== undefined) share.append(make("span", percent(group.weight)));
    one.append(share, typical(group.typical));
    cards.append(one);
  }
  box.append(cards);
}
function classes(found) {
  const rows = found.map((one) => {
    const line = make("tr"), head = make("th"), button = make("button", String(one.name));
    head.scope = "row"; button.type = "button"; button.onclick = () => choose(one.name);
    head.append(button); line.append(head, make("td", one.rows === null ? "" : count(one.rows)));
    return line;
  });
  if (!$("list").contains(document.activeElement)) $("list").replaceChildren(...rows);
}
function show(told) {
  if (told.history) { history = told.history; return; }
  const point = told.point;
  history.push(point);
  if (history.length > MOST) history.shift();
  $("state").className = "lead" + (told.refusal ? " bad" : "");
  $("state").textContent = told.refusal ? "Nothing can be learned at present, predictions go on: " + told.refusal
    : told.model ? told.model + ", record " + count(told.sequence) + ", all up to " + count(told.durable) + " on the disk" : "The model is being restored …";
  $("rows").textContent = count(told.rows ?? 0);
  $("speed").textContent = count(point.learned_per_second);
  $("error").textContent = percent(point.error);
  $("loss").textContent = number(point.log_loss, 3);
  $("ece").textContent = percent(told.calibration.error);
  $("classes").textContent = count(told.n_classes ?? 0);
  draw("plot-error", "error", (x) => (100 * x).toFixed(1) + "%", 0.01);
  draw("plot-loss", "log_loss", (x) => x.toFixed(2), 0.05);
  draw("plot-speed", "learned_per_second", (x) => count(x), 10);
  calibration(told.calibration);
  waiting(told.provisional ?? [], told.open_world);
  classes(told.classes ?? []);
}
async function listen() {
  const answer = await fetch("events", { headers: headers() });
  $("ask").hidden = answer.status !== 401;
  if (answer.status === 401) { $("state").textContent = "A token is needed."; return false; }
  if (!answer.ok) throw new Error(String(answer.status));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("closed");
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) show(JSON.parse(part.slice(6)));
  }
}
async function stay() {
  for (let wait = 1; ; wait = Math.min(2 * wait, 30)) {
    try { if (await listen() === false) return; } catch { $("state").textContent = "The service does not answer; trying again …"; $("state").className = "lead bad"; }
    await new Promise((next) => setTimeout(next, 1000 * wait));
  }
}
$("enter").onclick = () => { token = $("token").value.trim(); sessionStorage.setItem("infinimix-token", token); stay(); };
stay();

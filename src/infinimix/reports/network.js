// The slider, the choice of a variable, and cells of the matrices read out.
(function () {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const figures = JSON.parse(byId("figures").textContent);
  const edges = Array.from(document.querySelectorAll("#network .edge"));
  const rows = Array.from(document.querySelectorAll("#edge-table tbody tr"));
  const slider = byId("threshold");
  const percent = (p) => (p > 0.99 && p < 1 ? "> 99%" : Math.round(100 * p) + "%");

  function show() {
    const least = Number(slider.value);
    let shown = 0;
    for (const edge of edges) {
      const visible = Number(edge.dataset.p) >= least;
      edge.classList.toggle("hidden", !visible);
      shown += visible ? 1 : 0;
    }
    for (const row of rows) row.hidden = Number(row.dataset.p) < least;
    byId("threshold-value").textContent = Math.round(100 * least) + "%";
    byId("edge-count").textContent = shown + " of " + edges.length + " edges shown";
  }
  slider.addEventListener("input", show);
  show(); // a browser may remember the slider of an earlier visit

  function choose(node) {
    const network = byId("network");
    network.classList.toggle("chosen", node !== null);
    for (const edge of edges) {
      const near = edge.dataset.from === node || edge.dataset.to === node;
      edge.classList.toggle("near", near);
    }
    byId("told").textContent = node === null ? "" : tell(Number(node));
  }

  function tell(i) {
    const least = Number(slider.value);
    const list = (words) => (words.length ? words.join(", ") : "none");
    const parents = [], children = [];
    figures.names.forEach((name, j) => {
      if (figures.edges[j][i] >= least) parents.push(name + " " + percent(figures.edges[j][i]));
      if (figures.edges[i][j] >= least) children.push(name + " " + percent(figures.edges[i][j]));
    });
    if (!figures.directed) return figures.names[i] + ": neighbours " + list(children) + ".";
    return figures.names[i] + ": parents " + list(parents) + "; children " + list(children) + ".";
  }

  for (const node of document.querySelectorAll("#network .node")) {
    node.addEventListener("focus", () => choose(node.dataset.node));
    node.addEventListener("blur", () => choose(null));
    node.addEventListener("pointerenter", () => choose(node.dataset.node));
    node.addEventListener("pointerleave", () => choose(null));
  }
  for (const edge of edges) {
    edge.addEventListener("pointerenter", () => {
      byId("told").textContent = edge.querySelector("title").textContent;
    });
  }

  for (const svg of document.querySelectorAll(".heat")) {
    const key = svg.dataset.matrix, n = figures.order.length;
    const margin = Number(svg.dataset.margin), size = Number(svg.dataset.cell);
    const cursor = svg.querySelector(".cursor");
    let at = null;
    const read = (row, column) => {
      if (row < 0 || column < 0 || row >= n || column >= n) return;
      at = [row, column];
      cursor.setAttribute("x", margin + column * size);
      cursor.setAttribute("y", margin + row * size);
      cursor.setAttribute("visibility", "visible");
      const i = figures.order[row], j = figures.order[column];
      const link = key === "edges" && figures.directed ? " to " : " and ";
      const text = figures.names[i] + link + figures.names[j] + ": " + percent(figures[key][i][j]);
      byId("read-" + key).textContent = text;
    };
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
      const cell = (x) => Math.floor((x * scale - margin) / size);
      read(cell(event.clientY - box.top), cell(event.clientX - box.left));
    });
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const move = step[event.key];
      if (!move) return;
      event.preventDefault();
      if (at === null) read(0, 0);
      else read(at[0] + move[0], at[1] + move[1]);
    });
  }
})();

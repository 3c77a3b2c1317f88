"use strict";
// Lights the cells that made the number which is pointed at, tapped or focused, and writes its sum beneath.
// A table shows a node of its story's graph: data-node is the node, data-turned says that rows stand as columns.
// A cell's data-from names what made it: "3:r2" a row of node 3, "5:c1" a column, "4:1,2;1,3" cells, "4:*" all.
for (const story of document.querySelectorAll(".story")) {
  let places; // Every cell on show: node, row, column and element; listed when first needed.
  let shown = null; // The cell whose origin is lit.

  const list = () => {
    places = [];
    for (const table of story.querySelectorAll("table.matrix")) {
      const turned = "turned" in table.dataset;
      [...table.tBodies[0].rows].forEach((line, i) =>
        [...line.cells].slice(1).forEach((cell, j) => {
          if (cell.dataset.at) {
            const [node, row, col] = cell.dataset.at.split(/[:,]/).map(Number);
            places.push({ node, row, col, cell });
          } else if (table.dataset.node) {
            const [row, col] = turned ? [j + 1, i + 1] : [i + 1, j + 1];
            places.push({ node: Number(table.dataset.node), row, col, cell });
          }
        })
      );
    }
  };

  // Whether a part of data-from names a place.
  const names = (part) => {
    const [node, where] = part.split(":");
    const at = new Set(where.split(";"));
    return (place) =>
      place.node === Number(node) &&
      (at.has("*") || at.has("r" + place.row) || at.has("c" + place.col) || at.has(place.row + "," + place.col));
  };

  const show = (cell) => {
    if (cell === shown) return;
    if (!places) list();
    for (const { cell: lit } of places) lit.classList.remove("lit", "lit-2", "here");
    if (shown) sumOf(shown, "");
    shown = cell;
    if (!cell) return;
    cell.classList.add("here");
    cell.dataset.from.split(" ").forEach((part, i) => {
      for (const place of places.filter(names(part))) place.cell.classList.add(i % 2 ? "lit-2" : "lit");
    });
    sumOf(cell, cell.dataset.sum || "");
  };

  const sumOf = (cell, text) => {
    const line = cell.closest("figure").querySelector(".sum");
    if (line) line.textContent = text;
  };

  const made = (target) => (target instanceof Element ? target.closest("td[data-from]") : null);
  const focused = () => (story.contains(document.activeElement) ? made(document.activeElement) : null);

  story.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") show(made(event.target) || focused());
  });
  story.addEventListener("pointerleave", () => show(focused()));
  story.addEventListener("focusin", (event) => show(made(event.target)));
  story.addEventListener("focusout", () => show(null));
  // A tap focuses a cell; a tap beside it lets it go.
  story.addEventListener("click", (event) => {
    const cell = made(event.target);
    if (cell) cell.focus({ preventScroll: true });
  });

  // By keyboard: each table is one stop of the tabulator, the arrows walk about in it.
  for (const table of story.querySelectorAll("table.matrix")) {
    const cells = [...table.querySelectorAll("td[data-from]")];
    if (!cells.length) continue;
    table.setAttribute("role", "grid");
    cells.forEach((cell, i) => (cell.tabIndex = i ? -1 : 0));
    table.addEventListener("focusin", (event) => {
      for (const cell of cells) cell.tabIndex = cell === event.target ? 0 : -1;
    });
    table.addEventListener("keydown", (event) => {
      const cell = made(event.target);
      if (!cell) return;
      const line = cell.parentElement;
      const last = line.cells.length - 1;
      const beside = (step) => line.cells[cell.cellIndex + step];
      const below = (step) => table.tBodies[0].rows[line.sectionRowIndex + step]?.cells[cell.cellIndex];
      const next = {
        ArrowRight: () => beside(1),
        ArrowLeft: () => beside(-1),
        ArrowDown: () => below(1),
        ArrowUp: () => below(-1),
        Home: () => line.cells[1],
        End: () => line.cells[last],
        Escape: () => cell.blur(),
      }[event.key];
      if (!next || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const to = next();
      if (to && to.dataset.from) to.focus();
    });
  }
}

// The head that is open: its tables, and what made the number that is chosen.

// A table of a step. Which cell a number is in follows from its place.
const shadeOf = (step, x, max) => {
  if (!step.shade || Number.isNaN(x) || !max) return "";
  const level = Number.isFinite(x) ? Math.min(7, Math.floor((Math.abs(x) / max) * 8)) : 7;
  return level ? (x > 0 ? "more-" : "less-") + level : "";
};
const tableOf = (layer, head, at) => {
  const step = layer.steps[at];
  const node = step.nodes[head.nodes[at]];
  const numbers = matrix(step, node);
  const texts = matrixTexts(numbers, places);
  const canHide = step.stage === "S_masked" || step.stage === "A";
  const finite = numbers.filter(Number.isFinite);
  const max = step.shade === "weights" ? 1 : finite.reduce((max, x) => Math.max(max, Math.abs(x)), 0);
  const head1 = make("tr", {}, make("td"));
  for (let j = 0; j !== step.cols; j++) {
    head1.append(make("th", { scope: "col" }, step.has_tokens[1] ? tokens[j] : String(j + 1)));
  }
  const body = make("tbody");
  for (let i = 0; i !== step.rows; i++) {
    const line = make("tr", {}, make("th", { scope: "row" }, step.has_tokens[0] ? tokens[i] : String(i + 1)));
    let visible = 0;
    for (let j = 0; j !== step.cols; j++) {
      const place = i * step.cols + j;
      const isHidden = canHide && layer.isHidden(place);
      visible += isHidden ? 0 : 1;
      const shade = isHidden ? "masked" : shadeOf(step, numbers[place], max);
      const cell = document.createElement("td");
      cell.textContent = isHidden ? texts[place].trim() : texts[place];
      if (shade) cell.className = shade;
      line.append(cell);
    }
    if (!visible) line.cells[0].append(make("small", {}, " fully masked"));
    body.append(line);
  }
  const table = make("table", { class: "matrix", role: "grid", "aria-label": node.name }, make("thead", {}, head1), body);
  table.data = { at, step, node, numbers };
  return table;
};

// An open head begins with its weights; each matrix is followed by those that it was made of.
const order = [
  ...["A", "S_masked", "S_capped", "S_tempered", "S_biased", "S_scaled", "S"],
  ...["Q_rotated", "K_rotated", "Q_normed", "K_normed", "Q", "K", "F_scaled", "F", "O", "C", "V"],
];

// The lines that a rule names for the cell in row i and column j.
const lines = (rule, i, j, count) => {
  if (rule === "i") return [i];
  if (rule === "j") return [j];
  return rule === "*" ? Array.from({ length: count }, (_, line) => line) : rule[j] ?? [];
};
// The operands of a cell: for each, its table and the places of the cells.
const operandsOf = (data, i, j) =>
  data.step.from.map(([at, rowRule, colRule]) => {
    const table = opened.tables.find((table) => table.data.at === at);
    const { step, numbers } = table.data;
    const cells = lines(rowRule, i, j, step.rows).flatMap((row) =>
      lines(colRule, i, j, step.cols).map((col) => ({ row, col, x: numbers[row * step.cols + col] }))
    );
    return { table, cells };
  });

const addressOf = ({ step, node }, i, j) => {
  const name = (has, at) => (has ? addresses[at] : at + 1);
  return `${node.name}[${name(step.has_tokens[0], i)},${name(step.has_tokens[1], j)}]`;
};
const inside = (x) => (x < 0 ? `(${formulaText(x, places)})` : formulaText(x, places));
// A sum of products: all of them, or the largest six.
const products = (a, b) => {
  const terms = a.map(({ x }, at) => ({ at, size: Math.abs(x * b[at].x) }));
  const shown = terms.length > 8 ? terms.toSorted((s, t) => t.size - s.size).slice(0, 6) : terms;
  const texts = shown
    .sort((s, t) => s.at - t.at)
    .map(({ at }, place) => `${place ? inside(a[at].x) : formulaText(a[at].x, places)}·${inside(b[at].x)}`);
  const left = terms.length - shown.length;
  return texts.join(" + ") + (left ? ` + … (${left} more)` : "");
};
// The arithmetic of a cell, with the numbers as they were recorded.
const arithmetic = (layer, data, i, j) => {
  const { step, node, numbers } = data;
  const operands = operandsOf(data, i, j);
  const [a, b] = operands.map(({ cells }) => cells);
  const name = addressOf(data, i, j);
  const value = formulaText(numbers[i * step.cols + j], places);
  const isHidden = layer.isHidden(i * step.cols + j);
  const line = (operand, isRow) => {
    const { data } = operand.table;
    const { row, col } = operand.cells[0];
    const has = data.step.has_tokens[isRow ? 0 : 1];
    const which = has ? quoted(addresses[isRow ? row : col]) : (isRow ? row : col) + 1;
    return `${isRow ? "row" : "column"} ${which} of ${data.node.name}`;
  };
  if (step.op === "product-transposed" && b) {
    return `${name} = ${line(operands[0], true)} · ${line(operands[1], true)} = ${products(a, b)} ≈ ${value}`;
  }
  if (step.op === "product" && b) {
    return `${name} = ${line(operands[0], true)} · ${line(operands[1], false)} = ${products(a, b)} ≈ ${value}`;
  }
  if (step.op === "mask") {
    return isHidden ? `${name} = −∞: the mask hides this key` : `${name} = ${value}: the mask leaves it`;
  }
  if (step.op === "softmax" && a) {
    if (isHidden) return `${name} = 0: the mask hides this key, and exp(−∞) is 0`;
    const most = formulaText(Math.max(...a.map(({ x }) => x)), places).replace(/^−(.*)/, "(−$1)");
    const own = formulaText(a[j].x, places);
    return (
      `${name} = exp(${own} − ${most}) / Σ ≈ ${value}, where Σ is the sum of exp(score − ${most}) ` +
      `over ${line(operands[0], true)}, and ${most} is its largest score`
    );
  }
  // Single numbers stand in the formula in place of their matrices; others are listed behind it.
  let formula = node.is;
  const listed = [];
  for (const { table, cells } of operands) {
    const { data } = table;
    const matrix = `${data.node.name} (${data.step.rows}×${data.step.cols})`;
    if (cells.length === 1 && formula.includes(matrix)) {
      formula = formula.replace(matrix, () => inside(cells[0].x));
    } else if (cells.length) {
      const few = cells.map(({ x }) => formulaText(x, places)).join(" and ");
      listed.push(`${cells.length > 2 ? `${cells.length} numbers` : few} of ${data.node.name}`);
    }
  }
  const reads = listed.length ? `; it reads ${listed.join(", and ")}` : "";
  return `${name} = ${formula} ${operands.length ? "≈" : "="} ${value}${reads}`;
};

// Scrolls a table, and not the page, so that the cells from one to another are in sight, or the first of them.
const bringIn = (table, first, last) => {
  const room = table.parentElement;
  const cell = ({ row, col }) => table.tBodies[0].rows[row].cells[col + 1];
  const [from, to] = [cell(first), cell(last)];
  const [above, beside] = [table.tHead.offsetHeight, table.rows[0].cells[0].offsetWidth];
  const [top, left] = [from.offsetTop - above, from.offsetLeft - beside];
  const isIn = (start, end, at, size) => at <= start && end <= at + size;
  if (!isIn(top, to.offsetTop + to.offsetHeight, room.scrollTop, room.clientHeight)) room.scrollTop = top;
  if (!isIn(left, to.offsetLeft + to.offsetWidth, room.scrollLeft, room.clientWidth)) room.scrollLeft = left;
};
// The cell that is chosen: its operands are lit, and a line says the arithmetic.
const show = (cell) => {
  if (!opened || cell === opened.shown) return;
  for (const lit of opened.panel.querySelectorAll(".lit, .lit-2, .here")) lit.classList.remove("lit", "lit-2", "here");
  opened.shown = cell;
  opened.made.textContent = "";
  if (!cell) return;
  const { data } = cell.closest("table");
  const [i, j] = [cell.parentElement.sectionRowIndex, cell.cellIndex - 1];
  cell.title = String(data.numbers[i * data.step.cols + j]);
  cell.classList.add("here");
  operandsOf(data, i, j).forEach(({ table, cells }, at) => {
    for (const { row, col } of cells) {
      table.tBodies[0].rows[row].cells[col + 1].classList.add(at % 2 ? "lit-2" : "lit");
    }
    if (cells.length) bringIn(table, cells[0], cells.at(-1));
  });
  const command = text.explain.join(`${data.node.name}[${i + 1},${j + 1}]`);
  opened.made.append(arithmetic(opened.layer, data, i, j), make("small", {}, "down to the weights: ", make("code", {}, command)));
};

const close = (moves) => {
  const { panel, button } = opened;
  opened = null;
  sentence.classList.remove("has-head");
  panel.remove();
  button.setAttribute("aria-expanded", "false");
  pointAt(null);
  if (moves) button.focus();
};
const toggle = (layer, at, button) => {
  const isOpen = opened?.button === button;
  if (opened) close(false);
  if (isOpen) return;
  const head = layer.heads[at];
  const { node } = weightsOf(layer, head);
  const facts = [
    `layer ${layer.layer}, head ${at + 1}, the usual ${usualName(layer, at)}`,
    head.attends_to,
    head.entropy === null ? null : `entropy ${formulaText(head.entropy, 2)} bits`,
    head.key_head === null ? null : `reads key/value head ${head.key_head}`,
    head.is_removed ? "taken out: its result does not go on" : null,
  ];
  const closer = make("button", { type: "button", class: "close" }, "Close");
  const made = make("p", { class: "made", role: "status" });
  const tables = layer.steps.map((_, place) => tableOf(layer, head, place));
  const figure = (table) =>
    make(
      "figure",
      {},
      make("p", {}, table.data.step.text),
      make("figcaption", {}, `${table.data.node.name} = ${table.data.node.is}`),
      make("div", { class: "scroll" }, table)
    );
  const place = (table) => order.indexOf(table.data.step.stage);
  const panel = make(
    "section",
    { class: "open-head", "aria-label": node.name },
    make("header", {}, make("h3", {}, node.name), make("p", {}, facts.filter(Boolean).join(" · ")), closer),
    make("div", { class: "steps" }, ...tables.toSorted((a, b) => place(a) - place(b)).map(figure)),
    made
  );
  opened = { panel, layer, head, button, tables, made, shown: null };
  button.setAttribute("aria-expanded", "true");
  sentence.classList.add("has-head");
  layer.element.after(panel);
  const cellOf = (event) => event.target.closest?.(".open-head tbody td");
  const focused = () => (panel.contains(document.activeElement) ? document.activeElement.closest("td") : null);
  panel.addEventListener("pointerover", (event) => event.pointerType !== "touch" && show(cellOf(event) ?? focused()));
  panel.addEventListener("pointerleave", () => show(focused()));
  panel.addEventListener("focusin", (event) => show(cellOf(event) ?? null));
  panel.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    cell.tabIndex = -1;
    cell.focus({ preventScroll: true });
  });
  panel.addEventListener("keydown", (event) => event.key === "Escape" && close(true));
  closer.addEventListener("click", () => close(true));
  tables.forEach(walk);
  // The picture stays in sight, below the words.
  layer.element.style.scrollMarginTop = `${sentence.offsetHeight + 8}px`;
  layer.element.scrollIntoView();
};
// By keyboard a table is one stop of the tabulator, and the arrows walk about in it.
const walk = (table) => {
  const cells = [...table.tBodies[0].rows].map((line) => [...line.cells].slice(1));
  let stop = cells[0][0];
  stop.tabIndex = 0;
  table.addEventListener("focusin", (event) => {
    if (event.target.tagName !== "TD") return;
    stop.tabIndex = -1;
    stop = event.target;
    stop.tabIndex = 0;
  });
  table.addEventListener("keydown", (event) => {
    const [i, j] = [event.target.parentElement.sectionRowIndex, event.target.cellIndex - 1];
    const to = {
      ArrowRight: cells[i]?.[j + 1],
      ArrowLeft: cells[i]?.[j - 1],
      ArrowDown: cells[i + 1]?.[j],
      ArrowUp: cells[i - 1]?.[j],
      Home: cells[i]?.[0],
      End: cells[i]?.at(-1),
    }[event.key];
    if (!to || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    to.tabIndex = -1;
    to.focus();
  });
};

// `page.html#L1.A_3` opens that head.
const openNamed = () => {
  const name = decodeURIComponent(location.hash.slice(1));
  layers.forEach((layer, row) =>
    layer.heads.forEach((head, at) => {
      if (weightsOf(layer, head).node.name === name) toggle(layer, at, buttons[row][at]);
    })
  );
};
addEventListener("hashchange", openNamed);
openNamed();

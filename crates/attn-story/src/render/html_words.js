// Pointing at a word: its row and its column in every picture and table, and what it gives and gets in the open head.
const quoted = (token) => `“${token}”`;
const largest = (list) =>
  list
    .map((weight, at) => [weight, at])
    .filter(([weight]) => weight !== 0)
    .sort((a, b) => b[0] - a[0])
    .slice(0, 3)
    .map(([weight, at]) => `${quoted(addresses[at])} ${formulaText(weight, places)}`)
    .join(", ");
const pointAt = (token) => {
  root.classList.toggle("pointing", token !== null);
  for (const marked of document.querySelectorAll(".of-token")) marked.classList.remove("of-token");
  for (const word of words) word.className = "";
  ofToken.textContent = "";
  if (token === null) return;
  root.style.setProperty("--token", token);
  words[token].className = "pointed";
  if (!opened) return;
  for (const table of opened.tables) markToken(table, token);
  const { layer, head } = opened;
  const { step, node } = weightsOf(layer, head);
  const weights = matrix(step, node);
  const row = [...weights.subarray(token * step.cols, (token + 1) * step.cols)];
  const column = tokens.map((_, at) => weights[at * step.cols + token]);
  row.forEach((weight, at) => {
    const level = Math.min(7, Math.floor(weight * 8));
    if (level && at !== token) words[at].className = "more-" + level;
  });
  ofToken.textContent =
    `In ${node.name}, ${quoted(addresses[token])} attends to ${largest(row) || "nothing"}; ` +
    `attended to by ${largest(column) || "nothing"}.`;
};
const markToken = (table, token) => {
  const [ofRows, ofColumns] = table.data.step.has_tokens;
  const lines = [...table.tBodies[0].rows];
  if (ofRows) lines[token].cells[0].classList.add("of-token");
  if (ofColumns) table.tHead.rows[0].cells[token + 1].classList.add("of-token");
};
const wordOf = (event) => event.target.closest?.("li[data-token]");
const sentence = document.querySelector(".sentence");
sentence.addEventListener("pointerover", (event) => wordOf(event) && pointAt(Number(wordOf(event).dataset.token)));
sentence.addEventListener("pointerleave", () => pointAt(null));
sentence.addEventListener("focusin", (event) => wordOf(event) && pointAt(Number(wordOf(event).dataset.token)));
sentence.addEventListener("focusout", () => pointAt(null));
rove(words, (word, key) => words[Number(word.dataset.token) + (step1[key] ?? NaN)]);

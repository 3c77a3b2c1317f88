// The heads of a model: a picture of each, and the one that is opened, step by step. Every number is one that the page holds, and
// which cells made it is a rule of the page: nothing of attention is computed here.
const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
const root = document.getElementById("heads");
const text = read("sentence");
const layers = [];
for (let layer; (layer = read("layer-" + (layers.length + 1))); ) layers.push(layer);
const { tokens, addresses, places } = text;
const words = [...document.querySelectorAll(".sentence li")];
const ofToken = document.getElementById("of-token");
let opened = null; // The panel of the open head: element, layer, head, tables.

const make = (tag, attributes = {}, ...inside) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...inside);
  return element;
};
const bytes = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

// The numbers of a step of a head, row by row.
const decoded = new Map();
const matrix = (step, node) => {
  if (!decoded.has(node)) {
    const { buffer } = bytes(node.numbers);
    decoded.set(node, step.type === "f32" ? new Float32Array(buffer) : new Float64Array(buffer));
  }
  return decoded.get(node);
};
for (const layer of layers) {
  const bits = bytes(layer.hidden);
  layer.isHidden = (at) => ((bits[at >> 3] >> (at & 7)) & 1) === 1;
  layer.weights = layer.steps.findIndex((step) => step.stage === "A");
}
const weightsOf = (layer, head) => {
  const step = layer.steps[layer.weights];
  return { step, node: step.nodes[head.nodes[layer.weights]] };
};
const usualName = (layer, at) => `L${layer.layer - 1}H${at}`;

// Colours of weights from 0 to 1, of the scheme of the screen, or of the light one, which is printed.
const rules = [...document.styleSheets[0].cssRules];
const light = rules.find((rule) => rule.selectorText === ":root").style;
const dark = rules.find((rule) => rule.media?.mediaText.includes("dark")).cssRules[0].style;
const isDark = matchMedia("(prefers-color-scheme: dark)");
const ramp = (scheme) =>
  ["paper", "more-1", "more-2", "more-3", "more-4", "more-5", "more-6", "more-7"].map((name) => {
    const colour = parseInt(scheme.getPropertyValue("--" + name).trim().slice(1), 16);
    return [colour >> 16, (colour >> 8) & 255, colour & 255];
  });

// A picture: a pixel for each weight. What the mask hides stays transparent, and shows the hatching behind it.
const pictures = [];
const draw = (canvas, layer, head, colours) => {
  const { step, node } = weightsOf(layer, head);
  const weights = matrix(step, node);
  [canvas.width, canvas.height] = [step.cols, step.rows];
  const image = new ImageData(step.cols, step.rows);
  weights.forEach((weight, at) => {
    if (layer.isHidden(at)) return;
    const place = Math.min(Math.max(weight, 0), 1) * (colours.length - 1);
    const below = Math.min(Math.floor(place), colours.length - 2);
    for (let channel = 0; channel !== 3; channel++) {
      const [from, to] = [colours[below][channel], colours[below + 1][channel]];
      image.data[4 * at + channel] = from + (to - from) * (place - below);
    }
    image.data[4 * at + 3] = 255;
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
};
const drawAll = (scheme) => {
  const colours = ramp(scheme);
  for (const { canvas, layer, head } of pictures) draw(canvas, layer, head, colours);
};
const isPrinted = matchMedia("print");
const drawForScreen = () => drawAll(isDark.matches && !isPrinted.matches ? dark : light);
for (const medium of [isDark, isPrinted]) medium.addEventListener("change", drawForScreen);
addEventListener("beforeprint", () => drawAll(light));
addEventListener("afterprint", drawForScreen);

// Of a list of elements one is a stop of the tabulator; keys lead from it to others.
const rove = (elements, next) => {
  elements.forEach((element, at) => (element.tabIndex = at ? -1 : 0));
  for (const element of elements) {
    element.addEventListener("focus", () => {
      for (const other of elements) other.tabIndex = other === element ? 0 : -1;
    });
    element.addEventListener("keydown", (event) => {
      const to = event.ctrlKey || event.altKey || event.metaKey ? null : next(element, event.key);
      if (!to) return;
      event.preventDefault();
      to.focus();
    });
  }
};
const step1 = { ArrowLeft: -1, ArrowRight: 1 };

// Words at the sides of a picture, where there is room for them: queries on the left, keys below.
const side = (name) => make("span", { class: name, "aria-hidden": "true" }, ...tokens.map((token) => make("span", {}, token)));
const withWords = (picture, heads) =>
  tokens.length > 14 || heads > 6 ? picture : make("span", { class: "sides" }, side("queries"), picture, side("keys"));

// The pictures: a row for each layer, a button for each head.
const buttons = [];
for (const layer of layers) {
  const row = layer.heads.map((head, at) => {
    const canvas = make("canvas", { "aria-hidden": "true", class: tokens.length > 40 ? "fine" : null });
    pictures.push({ canvas, layer, head });
    const { name } = weightsOf(layer, head).node;
    const label = `${name}, the usual ${usualName(layer, at)}${head.attends_to ? ": " + head.attends_to : ""}`;
    const button = make(
      "button",
      { type: "button", class: "head", "aria-expanded": "false", "aria-label": label, title: label },
      withWords(make("span", { class: "picture" }, canvas), layer.heads.length),
      make("span", { class: "head-name" }, name),
      make("span", { class: "usual" }, usualName(layer, at), make("b", {}, head.letter ?? ""))
    );
    button.addEventListener("click", () => toggle(layer, at, button));
    return button;
  });
  buttons.push(row);
  layer.element = make(
    "section",
    { class: "layer" },
    make("h3", {}, `Layer ${layer.layer}`),
    make("div", { class: "pictures", style: `--heads: ${layer.heads.length}` }, ...row)
  );
  root.append(layer.element);
}
rove(buttons.flat(), (button, key) => {
  const row = buttons.findIndex((row) => row.includes(button));
  const at = buttons[row].indexOf(button);
  if (key in step1) return buttons[row][at + step1[key]];
  if (key === "ArrowDown") return buttons[row + 1]?.[at];
  if (key === "ArrowUp") return buttons[row - 1]?.[at];
  return { Home: buttons[row][0], End: buttons[row].at(-1) }[key];
});
root.style.setProperty("--count", tokens.length);
drawForScreen();

// Numbers as text, rounded as the tables of `attn` round them.
const isLarge = (x) => Math.abs(x) >= (Number.isInteger(x) ? 1e15 : 1e9);

// The decimals of a number's shortest text.
const decimalsOf = (x) => {
  if (!Number.isFinite(x) || Number.isInteger(x) || isLarge(x)) return 0;
  const [mantissa, exponent] = String(Math.abs(x)).split("e");
  return Math.max(0, (mantissa.split(".")[1] || "").length - Number(exponent || 0));
};

// Rounded to decimals; a number that lies exactly between two goes to the even one.
const fixed = (x, places) => {
  const size = Math.abs(x);
  const further = size.toFixed(places + 1);
  const isHalfway = Number.isInteger(size * 2 ** (places + 1)) && further.endsWith("5");
  const cut = further.slice(0, places ? -1 : -2);
  const text = isHalfway && "02468".includes(cut.at(-1)) ? cut : size.toFixed(places);
  return x < 0 && /[1-9]/.test(text) ? "-" + text : text;
};

const numberText = (x, places) => {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "-∞";
  if (x === 0) return "0";
  if (!isLarge(x)) return fixed(x, places);
  const [mantissa, exponent] = x.toExponential(places).split("e");
  return (mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa) + "e" + exponent.replace("+", "");
};

// The texts of a matrix: as many decimals as its numbers need, and at most `places`; points stand under each other.
const matrixTexts = (numbers, places) => {
  let needed = 0;
  for (const x of numbers) {
    if (needed === places) break;
    needed = Math.max(needed, Math.min(places, decimalsOf(x)));
  }
  const room = needed ? needed + 1 : 0;
  return Array.from(numbers, (x) => {
    const text = numberText(x, isLarge(x) ? places : needed);
    const point = text.indexOf(".");
    return text + " ".repeat(Math.max(0, room - (point < 0 ? 0 : text.length - point)));
  });
};

// One number in a formula, with a real minus sign.
const formulaText = (x, places) =>
  numberText(x, isLarge(x) ? places : Math.min(places, decimalsOf(x))).replace("-", "−");

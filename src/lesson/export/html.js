// Commands are copied without their prompt.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const done = (text) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  if (navigator.clipboard) {
    navigator.clipboard.writeText(button.dataset.copy).then(() => done("Copied"), () => select(button, done));
  } else select(button, done);
});
// Where the clipboard is out of reach the command is selected, ready to be copied by hand.
function select(button, done) {
  const prompt = button.previousElementSibling.querySelector(".prompt");
  const range = document.createRange();
  range.setStartAfter(prompt);
  range.setEndAfter(button.previousElementSibling.lastChild);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  done("Selected");
}
// A printer prints every answer that the page has, also in browsers whose folds the style cannot open.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details.answer:not([open])")];
  for (const answer of folded) answer.open = true;
});
addEventListener("afterprint", () => {
  for (const answer of folded) answer.open = false;
});

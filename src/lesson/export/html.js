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
// Options are buttons: an answer is marked at once, with what the lesson says to those who choose it.
for (const list of document.querySelectorAll("ol.options[data-right]")) {
  const question = list.closest(".question");
  const answer = question.querySelector("details.answer");
  const reply = document.createElement("div");
  reply.className = "reply";
  reply.setAttribute("role", "status");
  list.after(reply);
  const said = new Map();
  for (const name of answer ? answer.querySelectorAll("dl.feedback > dt") : []) said.set(name.textContent, name.nextElementSibling);
  let [tries, isSettled] = [2, false];
  const options = [...list.children].map((item, i) => {
    const option = document.createElement("div");
    option.className = "option";
    option.tabIndex = 0;
    option.setAttribute("role", "button");
    option.setAttribute("aria-pressed", "false");
    option.append(...item.childNodes);
    item.append(option);
    const letter = String.fromCharCode(65 + i);
    const choose = () => {
      const right = list.judge ? list.judge(letter) : letter === list.dataset.right;
      question.dispatchEvent(new CustomEvent("answered", { bubbles: true, detail: { answer: letter, right } }));
      for (const other of options) other.setAttribute("aria-pressed", String(other === option));
      option.classList.add(right ? "is-right" : "is-wrong");
      const verdict = document.createElement("p");
      const bold = document.createElement("strong");
      bold.textContent = right ? `${letter} is right.` : `${letter}: not quite.`;
      verdict.append(bold);
      const words = said.get(letter);
      reply.replaceChildren(verdict, ...(words ? words.cloneNode(true).childNodes : []));
      if (!right && !isSettled) {
        tries -= 1;
        const again = document.createElement("p");
        const next = question.querySelector("details.hint") ? "Try again, or open the hint." : "Try again.";
        again.textContent = tries > 0 || !answer ? next : "The answer is below.";
        reply.append(again);
      }
      isSettled ||= right || tries <= 0;
      if (isSettled && answer) answer.open = true;
    };
    option.addEventListener("click", (event) => {
      // Links stay links, and a text that is being marked is not an answer.
      if (!event.target.closest("a") && getSelection().isCollapsed) choose();
    });
    option.addEventListener("keydown", (event) => {
      if (event.target !== option || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      choose();
    });
    return option;
  });
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

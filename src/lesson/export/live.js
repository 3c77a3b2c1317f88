// A lesson that computes: its what-ifs run in their stories, the program judges answers, and one story's panel is open at a time.
document.addEventListener("live", ({ detail: { ask, make, open, stories, whenNear } }) => {
  const read = (data) => JSON.parse(data.textContent);

  // The panel of the story that is looked at; those of all others are closed.
  let touched = null;
  const touch = (story) => {
    if (story === touched) return;
    touched?.classList.remove("touched");
    story?.classList.add("touched");
    touched = story;
  };
  // What was pointed at stays in its place when a panel above it closes, and is not left behind the one that opens.
  const attend = ({ target }) => {
    if (!target.closest || target === document.documentElement) return;
    const before = target.getBoundingClientRect().top;
    touch(target.closest(".story.live"));
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: "instant" });
    const panel = touched?.querySelector(".panel");
    if (!panel || panel.contains(target) || !target.closest("td")) return;
    const hidden = target.getBoundingClientRect().bottom - panel.getBoundingClientRect().top;
    if (hidden > 0) scrollBy({ top: hidden + 16, behavior: "instant" });
  };
  document.addEventListener("focusin", attend);
  document.addEventListener("click", attend);

  // What-ifs. One with a story of its own stands in front of a comparison that was printed, which is folded.
  for (const data of document.querySelectorAll("script.what-if")) {
    const { open: opening, events, button } = read(data);
    const run = make("button", { type: "button", class: "run" }, button);
    const place = data.parentElement;
    if (opening) {
      whenNear(place, () => {
        const story = make("article", { class: "story" });
        if (open(story, { open: opening }) !== null) return;
        const folded = make("details", { class: "beside" }, make("summary", {}, "Both side by side, as printed"));
        while (data.nextSibling) folded.append(data.nextSibling);
        data.after(make("p", { class: "change" }, run), story, folded);
      });
    } else if (place.querySelector(".story > .opening")) {
      data.nextElementSibling.append(" ", run);
    }
    run.addEventListener("click", (event) => {
      const story = place.querySelector(".story.live");
      if (!story) return;
      // The button stands outside of its story, whose panel opens all the same.
      event.stopPropagation();
      stories.get(story)(...events);
      touch(story);
    });
  }

  // Each answer is told to the page, which keeps what came of the questions.
  const answered = (element, answer, { is_right: right, mistakes }) =>
    element.dispatchEvent(new CustomEvent("answered", { bubbles: true, detail: { answer, right, mistakes } }));

  // Questions.
  for (const data of document.querySelectorAll("script.judge")) {
    const { judge, wanted } = read(data);
    const question = data.closest(".question");
    const options = question.querySelector("ol.options[data-right]");
    if (options) options.judge = (letter) => ask({ judge, answer: letter }).is_right;
    else askIn(question, data, wanted, (answer) => ask({ judge, answer }));
  }

  // Exercises whose numbers are pasted: the mistake is named, the cells that differ are marked, and the right numbers wait to be asked for.
  for (const data of document.querySelectorAll("script.check")) {
    const { check, step, steps } = read(data);
    const answer = data.closest(".question")?.querySelector("details.answer");
    const box = make("textarea", { rows: 5, spellcheck: "false", autocapitalize: "off", autocomplete: "off", required: true });
    const which = make("select", {}, ...steps.map((name) => make("option", { selected: name === step }, name)));
    const button = make("button", { type: "submit" }, "Check");
    const form = make("form", { class: "try numbers" }, make("label", {}, "Paste what your code printed", box),
      make("label", {}, "These are the numbers of", which), button);
    const reply = make("div", { class: "reply", role: "status" });
    data.after(form, reply);
    form.addEventListener("input", () => reply.replaceChildren());
    const drawn = (html) => make("div", { class: "compared" }, ...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    const mistakes = document.querySelector("nav.site a[href$='mistakes.html']")?.getAttribute("href");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const said = ask({ check, numbers: box.value, step: which.value });
      if (said.error) return reply.replaceChildren(make("p", {}, said.error.replaceAll("\n  help: ", "; ")));
      if (said.has_asked) answered(data, box.value, said);
      const lines = [...said.remarks, ...said.lines].map((line) => make("p", {}, line));
      const about = said.mistakes.flatMap((id) => [" ", make("a", { href: `${mistakes}#${id}` }, id)]);
      reply.replaceChildren(
        make("p", {}, make("strong", {}, said.headline)),
        drawn(said.yours),
        ...lines,
        mistakes && about.length ? make("p", {}, "Read more:", ...about) : "",
        make("details", {}, make("summary", {}, "Show the right numbers"), drawn(said.right)),
      );
      if (said.is_right && said.has_asked && answer) answer.open = true;
    });
  }

  // A field for an answer that is typed. As in the quiz, the second wrong one is followed by the answer.
  function askIn(question, data, wanted, judged) {
    const answer = question.querySelector("details.answer");
    const field = make("input", { type: "text", autocomplete: "off", maxlength: 200, size: 14, enterkeyhint: "done" });
    const label = make("label", {}, `Your answer, ${wanted} `, field);
    const form = make("form", { class: "try" }, label, make("button", { type: "submit" }, "Check"));
    const reply = make("div", { class: "reply", role: "status" });
    (question.querySelector("details.hint") ?? data).before(form, reply);
    const line = (text) => make("p", {}, text);
    const verdict = (word, text) => make("p", {}, make("strong", {}, word), text);
    let [tries, isSettled] = [2, false];
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const said = judged(field.value);
      if (!said.is_right) field.select();
      if (said.error) return reply.replaceChildren(line(said.error.replace("\n  help: ", "; ")));
      answered(data, field.value, said);
      if (said.is_right) {
        isSettled = true;
        reply.replaceChildren(verdict("Right: ", `${said.repeated}.`));
        if (answer) answer.open = true;
        return;
      }
      tries -= 1;
      const words = question.querySelectorAll("dl.feedback > dd")[said.foreseen ?? -1];
      const hint = question.querySelector("details.hint");
      const next = tries > 0 && !isSettled ? (hint ? "Try again, or open the hint." : "Try again.") : "The answer is below.";
      const feedback = words ? [...words.cloneNode(true).childNodes] : [];
      reply.replaceChildren(verdict("Not quite: ", `${said.repeated}.`), ...feedback, line(next));
      isSettled ||= tries <= 0;
      if (isSettled && answer) answer.open = true;
    });
  }

  // Hand in: what came of the questions as a line of text and as a file, both made here; nothing is sent. The tab keeps it when the
  // page is left or loaded again.
  function handIn(data) {
    const { lesson, questions } = read(data);
    const key = `attn ${location.pathname} ${lesson}`;
    const kept = new Map(questions.map((id) => [id, { id, outcome: "unanswered", tries: 0, mistakes: [] }]));
    try {
      for (const one of JSON.parse(sessionStorage.getItem(key)) ?? []) if (kept.has(one.id)) kept.set(one.id, one);
    } catch {} // Some frames and browsers keep nothing.
    const isSettled = ({ outcome, wasOpened }) => wasOpened || outcome === "right" || outcome === "second try";
    const oneOf = (element) => kept.get(element.closest(".question")?.dataset.id);
    for (const question of document.querySelectorAll(".question")) {
      if (oneOf(question)?.tries) question.querySelector(".reply")?.replaceChildren(make("p", {}, "You have answered this before."));
    }

    const name = make("input", { type: "text", maxlength: 60, autocomplete: "name", required: true });
    const form = make("form", { class: "try" }, make("label", {}, "Your name or number ", name), make("button", { type: "submit" }, "Make my line"));
    const [count, place] = [make("p", { role: "status" }), make("div", { role: "status" })];
    const again = make("button", { type: "button" }, "Forget my answers");
    again.addEventListener("click", () => {
      sessionStorage.removeItem(key);
      location.reload();
    });
    const isAbout = "The line has your first answers, second tries and the mistakes that were named. An answer that you open first does not count. Copy the line into a message or a form, or save it as a file. Nothing is sent from here.";
    data.after(make("p", {}, isAbout), count, form, place);
    const tell = () => {
      const answered = [...kept.values()].filter(({ tries }) => tries > 0).length;
      count.replaceChildren(`${answered} of ${kept.size} ${kept.size === 1 ? "question" : "questions"} answered. `, ...(answered ? [again] : []));
    };
    tell();

    const changed = () => {
      tell();
      if (place.hasChildNodes()) place.replaceChildren(make("p", {}, "You have answered more since then: make your line again."));
      try {
        sessionStorage.setItem(key, JSON.stringify([...kept.values()]));
      } catch {}
    };
    document.addEventListener("answered", ({ target, detail: { answer, right, mistakes = [] } }) => {
      const one = oneOf(target);
      if (!one || isSettled(one)) return;
      one.tries += 1;
      if (one.tries === 1) one.answer = answer.slice(0, 200);
      if (one.tries === 1) one.outcome = right ? "right" : "wrong";
      else if (one.tries === 2 && right) one.outcome = "second try";
      for (const mistake of mistakes) if (!one.mistakes.includes(mistake)) one.mistakes.push(mistake);
      changed();
    });
    document.addEventListener("click", ({ target }) => {
      const one = target.closest?.("details.answer > summary") && oneOf(target);
      if (!one || isSettled(one)) return;
      one.wasOpened = true;
      changed();
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const results = { name: name.value.trim(), lesson, questions: [...kept.values()].map(({ tries, wasOpened, ...one }) => one) };
      const json = JSON.stringify(results);
      const packed = new Blob([json]).stream().pipeThrough(new CompressionStream("deflate"));
      const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
      const code = `attn1:${btoa(String.fromCharCode(...bytes))};`;
      const line = make("textarea", { rows: 4, readonly: true, "aria-label": "The line to hand in" });
      line.value = code;
      const copy = make("button", { type: "button" }, "Copy");
      copy.addEventListener("click", () => {
        line.select();
        navigator.clipboard?.writeText(code).then(() => (copy.textContent = "Copied"), () => (copy.textContent = "Selected"));
      });
      const file = URL.createObjectURL(new Blob([json], { type: "application/json" }));
      const save = make("a", { href: file, download: `${lesson}-${results.name}.json`.replace(/[^\p{L}\p{N}.-]+/gu, "_") }, "Save as a file");
      place.replaceChildren(make("div", { class: "try numbers" }, line, copy, save));
      line.focus();
      line.select();
    });
  }

  // When the questions have their places for replies.
  for (const data of document.querySelectorAll("script.hand-in")) handIn(data);
});

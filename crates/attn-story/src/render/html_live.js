// A page that computes: the program of attn runs in it as WebAssembly. A story's data stand in its `.opening`; each event of the
// reader goes to the program, which answers with the new state and, after a change, with the tables.
// Without WebAssembly nothing here happens, and the page stays as it was printed.
(async () => {
  const make = (name, attributes = {}, ...inside) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...inside.filter((part) => part !== null));
    return element;
  };

  // What is compressed as zlib does, in base64.
  const inflated = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
  };
  const loaded = (script) =>
    new Promise((done, failed) => {
      script.addEventListener("load", done);
      script.addEventListener("error", failed);
    });

  // The program: its three functions take and give texts with their length in front. In a site a script of its own holds it.
  const program = async () => {
    const script = document.querySelector("script#program");
    if (script.src && !globalThis.attnProgram) await loaded(script);
    const wasm = inflated(globalThis.attnProgram ?? script.textContent);
    const { instance } = await WebAssembly.instantiate(await wasm.arrayBuffer());
    const { memory, attn_room: room, attn_answer: answer, attn_free: free } = instance.exports;
    return (request) => {
      const sent = new TextEncoder().encode(JSON.stringify(request));
      const at = room(sent.length);
      new Uint8Array(memory.buffer, at + 4, sent.length).set(sent);
      const answered = answer(at);
      const length = new DataView(memory.buffer).getUint32(answered, true);
      const read = new TextDecoder().decode(new Uint8Array(memory.buffer, answered + 4, length));
      free(answered);
      return JSON.parse(read);
    };
  };

  // What stands in the panel while there is nothing else to say.
  const how = {
    look: "Click a number: solid frames show what it was made of, dotted ones what it is used for.",
    change: "Underlined numbers are given: type another one, and everything follows.",
    guess: "The number under the cursor is hidden. Type your guess.",
  };

  const key = ([node, row, col]) => `${node}:${row},${col}`;
  const isNumber = (event) => event.key.length === 1 && /[0-9.−-]/.test(event.key);
  const hasModifier = (event) => event.ctrlKey || event.altKey || event.metaKey;

  const goTo = (cell) => {
    cell?.scrollIntoView({ block: "center", inline: "nearest" });
    cell?.focus({ preventScroll: true });
  };

  // How each open story is sent an event.
  const stories = new WeakMap();

  // Makes what is shown what it is to be, and touches only what differs: a matrix has many cells, and few changes.
  // Returns false if a place now shows another cell.
  const ofCells = ["class", "aria-label", "data-at", "data-given"];
  const followed = (shown, next) => {
    const [before, after] = [[...shown.childNodes], [...next.childNodes]];
    if (before.length !== after.length || before.some((node, at) => node.nodeName !== after[at].nodeName)) {
      shown.replaceChildren(...after);
      return false;
    }
    let isSame = true;
    before.forEach((node, at) => {
      if (node.nodeType === Node.TEXT_NODE) {
        if (node.data !== after[at].data) node.data = after[at].data;
        return;
      }
      for (const name of node.nodeName === "TD" ? ofCells : after[at].getAttributeNames()) {
        const value = after[at].getAttribute(name);
        if (node.getAttribute(name) === value) continue;
        // A place now shows another cell.
        if (name.startsWith("data-")) isSame = false;
        if (value === null) node.removeAttribute(name);
        else node.setAttribute(name, value);
      }
      isSame = followed(node, after[at]) && isSame;
    });
    return isSame;
  };

  // Ctrl-Z and Ctrl-Y, as everywhere, for the story that was used last; in a field for text they belong to the field.
  let lastUsed = null;
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.matches?.("input[type=text], textarea")) return;
    const name = event.key.toLowerCase();
    const redoes = name === "y" || (name === "z" && event.shiftKey);
    if ((name !== "z" && !redoes) || !lastUsed) return;
    event.preventDefault();
    lastUsed(redoes ? "redo" : "undo");
  });

  // A story that computes. `ask` is the program, `article` the place where it is shown.
  const open = (ask, article, request) => {
    const first = ask(request);
    if (first.error) return first.error;
    const page = first.page;
    let view = first;
    let cells = new Map(); // The elements of each cell, by its place: a matrix may be shown several times.
    let current = null; // The element that is focused, of the cell under the cursor.
    let moved = []; // The elements that say what they were before.
    let largest = null; // The element of a computed number that the last change has moved most, and what happened to it.
    let named = []; // The elements under the cursor, with the names that they have elsewhere.

    const told = make("div", { class: "steps" });
    const panel = panelOf();
    article.replaceChildren(told, panel.element);
    article.classList.add("live");
    stories.set(article, send);
    show(first);

    // Returns what the program has refused, if it has.
    function send(...events) {
      const next = ask({ page, events });
      show(next);
      if (!next.error) noteLink();
      return next.error;
    }

    // The address leads to what is seen; where it cannot be written, as in some frames, it stays as it was.
    function noteLink() {
      const { number } = article.dataset;
      if (!number) return;
      try {
        const link = encodeURI(view.link).replaceAll("%5B", "[").replaceAll("%5D", "]").replaceAll("#", "%23");
        history.replaceState(null, "", `#${number};${link}`);
      } catch {}
    }

    function show(next) {
      if (next.error) {
        panel.said(next.error);
        return;
      }
      view = next;
      for (const [cell, name] of named) cell.setAttribute("aria-label", name);
      if (next.html !== undefined) draw(next.html, next.changed, next.largest);
      mark();
      panel.show(next);
    }

    // The tables, written again; the focus stays where it was.
    function draw(html, changed, moves) {
      const [which, hasFocus] = [current ? places(current).indexOf(current) : -1, document.activeElement === current];
      for (const cell of moved) {
        cell.classList.remove("changed");
        cell.querySelector("del")?.remove();
      }
      const inside = new DOMParser().parseFromString(html, "text/html").querySelector(".story");
      if (!followed(told, inside)) list();
      moved = changed.flatMap(([node, row, col, before]) =>
        (cells.get(key([node, row, col])) ?? []).map((cell) => {
          cell.classList.add("changed");
          // Where it looks as before, only digits that are not shown have moved.
          if (before !== null) cell.append(make("del", {}, `was ${before}`));
          return cell;
        })
      );
      const seen = ([at, text]) => {
        const cell = cells.get(key(at))?.find((cell) => cell.checkVisibility());
        return cell ? [{ cell, text }] : [];
      };
      largest = moves.flatMap(seen)[0] ?? null;
      const of = cells.get(key(view.cell.at)) ?? [];
      current = of[which] ?? null;
      if (hasFocus) current?.focus({ preventScroll: true });
    }

    const places = (cell) => cells.get(cell.dataset.place) ?? [];

    function list() {
      cells = new Map();
      for (const table of told.querySelectorAll("table.matrix")) {
        table.setAttribute("role", "grid");
        table.setAttribute("aria-label", table.querySelector(".name")?.textContent ?? "numbers");
        const turned = "turned" in table.dataset;
        [...table.tBodies[0].rows].forEach((line, i) =>
          [...line.cells].slice(1).forEach((cell, j) => {
            let at = null;
            if (cell.dataset.at) {
              const [node, row, col] = cell.dataset.at.split(/[:,]/).map(Number);
              at = [node, row - 1, col - 1];
            } else if (table.dataset.node) {
              at = [Number(table.dataset.node), ...(turned ? [j, i] : [i, j])];
            }
            if (!at) return;
            cell.dataset.place = key(at);
            cell.setAttribute("role", "gridcell");
            cell.tabIndex = -1;
            if (!cells.has(key(at))) cells.set(key(at), []);
            cells.get(key(at)).push(cell);
          })
        );
        const stop = table.querySelector("td[data-place]");
        if (stop) stop.tabIndex = 0;
      }
    }

    // The cell under the cursor, those that it came from, and those that it feeds.
    function mark() {
      for (const cell of told.querySelectorAll(".here, .lit, .lit-2, .feeds, .guess")) {
        cell.classList.remove("here", "lit", "lit-2", "feeds", "guess");
      }
      const each = (parts, name) =>
        parts.forEach(([node, of], at) => {
          for (const [row, col] of of) for (const cell of cells.get(key([node, row, col])) ?? []) cell.classList.add(name(at));
        });
      each(view.from, (at) => (at % 2 ? "lit-2" : "lit"));
      each(view.feeds, () => "feeds");
      named = (cells.get(key(view.cell.at)) ?? []).map((cell) => {
        const name = cell.getAttribute("aria-label");
        cell.classList.add("here");
        cell.classList.toggle("guess", view.cell.is_hidden);
        cell.setAttribute("aria-label", nameOf());
        return [cell, name];
      });
    }

    // What a screen reader says of the cell under the cursor.
    function nameOf() {
      const { address, text, before, is_given: isGiven, is_hidden: isHidden } = view.cell;
      const number = isHidden ? "hidden: guess it" : text;
      return `${address} = ${number}${before ? `, before ${before}` : ""}${isGiven ? ", given" : ""}`;
    }

    const cellOf = (event) => event.target.closest?.("td[data-place]");
    const placeOf = (cell) => cell.dataset.place.split(/[:,]/).map(Number);

    told.addEventListener("focusin", (event) => {
      const cell = cellOf(event);
      if (!cell || cell === current) return;
      for (const other of cell.closest("table").querySelectorAll("td[data-place]")) other.tabIndex = -1;
      cell.tabIndex = 0;
      current = cell;
      lastUsed = send;
      send({ point: placeOf(cell) });
      // A cell does not stay behind the panel.
      if (!panel.element.checkVisibility()) return;
      const behind = cell.getBoundingClientRect().bottom - panel.element.getBoundingClientRect().top;
      if (behind > 0) scrollBy({ top: behind + 16, behavior: "instant" });
    });
    // A finger that scrolls does not choose: only a tap does.
    told.addEventListener("click", (event) => cellOf(event)?.focus({ preventScroll: true }));
    told.addEventListener("dblclick", (event) => cellOf(event) && panel.write());
    told.addEventListener("keydown", (event) => {
      const cell = cellOf(event);
      if (!cell || hasModifier(event)) return;
      const line = cell.parentElement;
      const below = (step) => line.parentElement.rows[line.sectionRowIndex + step]?.cells[cell.cellIndex];
      const to = {
        ArrowRight: () => line.cells[cell.cellIndex + 1],
        ArrowLeft: () => line.cells[cell.cellIndex - 1],
        ArrowDown: () => below(1),
        ArrowUp: () => below(-1),
        Home: () => line.cells[1],
        End: () => line.cells[line.cells.length - 1],
      }[event.key]?.();
      if (to?.dataset.place) {
        event.preventDefault();
        to.focus();
      } else if (event.key === "Enter" || event.key === "F2") {
        event.preventDefault();
        panel.write();
      } else if (isNumber(event)) {
        event.preventDefault();
        panel.write(event.key);
      } else if (event.key === "u") {
        send("undo");
      } else if (event.key === "a") {
        send("predict");
      }
    });
    // The panel below the tables: the cell, its arithmetic, and everything that can be changed.
    function panelOf() {
      const address = make("button", { type: "button", class: "address" });
      address.addEventListener("click", () => goTo(current ?? told.querySelector(".here")));
      const arithmetic = make("p", { class: "arithmetic" });
      const status = make("p", { role: "status", class: "status" });
      const field = make("input", { type: "text", inputmode: "text", autocomplete: "off", size: 10, enterkeyhint: "done" });
      const label = make("label", {}, make("span"), field);
      const take = make("button", { type: "submit" }, "OK");
      const form = make("form", { class: "write" }, label, take);
      const button = (text, event, title) => {
        const made = make("button", { type: "button", title }, text);
        made.addEventListener("click", () => {
          lastUsed = send;
          send(event);
          // A button that has nothing left to do loses the focus: the cell gets it.
          if (made.disabled) leave();
        });
        return made;
      };
      const undo = button("Undo", "undo", "Ctrl-Z, or u on a cell");
      const redo = button("Redo", "redo", "Ctrl-Y");
      const predict = button("Guess", "predict", "Hide the number under the cursor until it is guessed: a");
      const head = button("", "remove-head", "The output of the head becomes 0");
      const jump = make("button", { type: "button", class: "jump", title: "Go there" });
      jump.addEventListener("click", () => goTo(largest.cell));
      const copy = make("button", { type: "button", title: "The address of this page with this number and these changes" }, "Copy link");
      copy.hidden = !article.dataset.number;
      copy.addEventListener("click", async () => {
        noteLink();
        try {
          await navigator.clipboard.writeText(location.href);
          status.textContent = "The link to what you see is copied.";
        } catch {
          status.textContent = location.href;
        }
      });
      const knobs = make("div", { class: "knobs" });
      // On a phone there is no room for everything at once.
      const more = make("details", { class: "more" }, make("summary", {}, "Settings"), knobs);
      more.open = matchMedia("(min-width: 40rem)").matches;
      const settings = {};
      let shownAt = "";
      const element = make(
        "section",
        { class: "panel", "aria-label": "The chosen number, and what can be changed" },
        make("div", { class: "cell" }, address),
        make("div", { class: "news" }, jump, status),
        make("div", { class: "cell" }, arithmetic),
        make("div", { class: "tools" }, form, undo, redo, predict, head, copy),
        more
      );

      const leave = () => (current ?? told.querySelector("td[tabindex='0']"))?.focus({ preventScroll: true });
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        lastUsed = send;
        send({ write: field.value });
        // What was refused can be mended.
        if (view.is_refused) return field.select();
        field.value = "";
        leave();
      });
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        field.value = "";
        leave();
      });

      // A slider, or a list of choices. It is made once, so that it can be dragged while the page changes.
      const setting = (name, first) => {
        const says = make("output");
        if (first.choices) {
          const list = make("select");
          list.addEventListener("change", () => send({ set: JSON.parse(list.value) }));
          knobs.append(make("label", {}, `${name} `, list));
          return (now) => {
            list.replaceChildren(
              ...now.choices.map(({ text, set, is_now: isNow }) => make("option", { value: JSON.stringify(set), selected: isNow }, text))
            );
          };
        }
        const [low, high, step] = name === "temperature" ? [0.1, 5, 0.1] : [0, 2, 0.05];
        const slider = make("input", { type: "range", min: low, max: high, step });
        const value = () => (name === "scale" ? { scale: { number: slider.valueAsNumber } } : { temperature: slider.valueAsNumber });
        slider.addEventListener("input", () => {
          lastUsed = send;
          send({ slide: value() });
        });
        slider.addEventListener("change", () => send("settled"));
        const reset = make("button", { type: "button", title: `The ${name} as at the start`, "aria-label": `Reset the ${name}` }, "↺");
        reset.addEventListener("click", () => send({ reset: name }));
        knobs.append(make("div", {}, make("label", {}, `${name} `, slider), says, reset));
        return (now) => {
          if (document.activeElement !== slider || Math.abs(slider.valueAsNumber - now.number) > step) slider.value = now.number;
          says.textContent = now.text;
          slider.setAttribute("aria-valuetext", now.text);
        };
      };

      return {
        element,
        said: (text) => (status.textContent = text),
        write: (text) => {
          if (form.hidden) {
            const { address, is_given: isGiven } = view.cell;
            status.textContent = isGiven
              ? `${address} has been guessed. Numbers can be changed when Guess is off.`
              : `${address} is computed. Only given numbers can be changed: they are underlined.`;
            return;
          }
          field.value = text ?? (view.predicts ? "" : String(view.cell.value ?? ""));
          field.focus();
          if (!text) field.select();
        },
        show: (now) => {
          const { cell } = now;
          const canWrite = cell.is_hidden || (cell.is_given && !now.predicts);
          address.textContent = `${cell.address} = ${cell.is_hidden ? "?" : cell.text}${cell.before ? ` (before: ${cell.before})` : ""}`;
          address.title = `Go there${cell.value === null ? "" : `: ${cell.value}`}`;
          // Another cell is read from its beginning.
          if (shownAt !== String(cell.at)) element.scrollTop = 0;
          shownAt = String(cell.at);
          address.dataset.exact = cell.value === null ? "" : String(cell.value);
          const lines = cell.lines.map(([sign, text]) => `${sign} ${text}`).join(" ");
          const given = cell.with ? `, with ${cell.with[0]} = ${cell.with[1]} = ${cell.with[2]}` : "";
          arithmetic.textContent = lines ? `${cell.symbol} ${lines}${given}` : cell.step;
          form.hidden = !canWrite;
          label.firstChild.textContent = cell.is_hidden ? "Your guess " : "New number ";
          field.setAttribute("aria-label", `${cell.is_hidden ? "Your guess of" : "New number for"} ${cell.address}`);
          jump.hidden = !largest;
          if (largest) jump.textContent = `Largest change: ${largest.text}`;
          undo.disabled = !now.undo;
          redo.disabled = !now.redo;
          predict.setAttribute("aria-pressed", now.predicts);
          article.classList.toggle("guessing", now.predicts);
          head.hidden = !now.head;
          if (now.head) head.textContent = `${now.head.is_removed ? "Put back" : "Take out"} head ${now.head.head}`;
          for (const [name, of] of Object.entries(now.settings)) {
            settings[name] ??= setting(name, of);
            settings[name](of);
          }
          more.hidden = !knobs.children.length;
          const old = now.tells_old_numbers ? " The sentences of the steps are about the numbers before your changes." : "";
          const count = now.moved === 1 ? "1 number" : `${now.moved} numbers`;
          const changed = now.changes && `${now.changes} The last change has moved ${now.moved ? count : "no number"}.${old}`;
          const hint = now.predicts
            ? how.guess
            : told.querySelector("[data-given]")
              ? `${how.look} ${how.change}`
              : how.look;
          status.textContent = now.said ?? (changed || hint);
          status.classList.toggle("hint", !now.said && !changed);
        },
      };
    }
    return null;
  };

  let ask;
  try {
    ask = await program();
  } catch {
    return; // No WebAssembly here: the page stays as it was printed.
  }
  // A new element: the one that was printed has listeners of its own.
  const replaced = (data, opening) => {
    const fresh = make("article", { class: "story", "data-number": data.dataset.number });
    if (open(ask, fresh, { open: opening }) !== null) return null;
    data.parentElement.replaceWith(fresh);
    return fresh;
  };
  // In a site data are packed; large ones stand in a script of their own, which is loaded when its story comes into sight.
  const fetched = async (data) => {
    const script = make("script", { src: data.dataset.src });
    document.head.append(script);
    await loaded(script);
    return inflated(globalThis.attnData).json();
  };
  const openingIn = async (data) =>
    "packed" in data.dataset ? inflated(data.textContent).json() : JSON.parse(data.textContent);
  // What takes long to open waits until it comes into sight; then what is on the page already is opened in order, piece by piece.
  const waiting = new Map();
  let queue = Promise.resolve();
  const begin = (element) => {
    const run = waiting.get(element);
    if (!run) return queue;
    waiting.delete(element);
    nearby.unobserve(element);
    const breath = () => new Promise((done) => setTimeout(done));
    return (queue = queue.then(breath).then(run).catch(() => null));
  };
  const nearby = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) begin(target);
  });
  const whenNear = (element, run) => {
    waiting.set(element, run);
    nearby.observe(element);
  };
  for (const [at, data] of document.querySelectorAll(".story > .opening").entries()) {
    data.dataset.number = at + 1;
    const opening = data.dataset.src ? fetched : openingIn;
    whenNear(data.parentElement, async () => replaced(data, await opening(data)) && followLink());
  }
  const openIn = (article, request) => open(ask, article, request);
  document.dispatchEvent(new CustomEvent("live", { detail: { ask, make, open: openIn, stories, whenNear } }));
  document.documentElement.dataset.live = "";
  for (const line of document.querySelectorAll("p.how")) line.textContent = how.look;

  // `page.html#2;X[1,2]=7;A[2,1]` leads to a state of the second story.
  let wanted = null;
  function followLink() {
    const story = wanted && document.querySelector(`.story[data-number="${wanted.number}"]`);
    if (!story) return;
    if (!stories.has(story)) return story.scrollIntoView();
    const { link } = wanted;
    wanted = null;
    const refused = stories.get(story)({ visit: link });
    if (refused) {
      story.before(notFollowed(refused));
      return story.previousElementSibling.scrollIntoView();
    }
    const cell = story.querySelector(".here");
    if (cell) return goTo(cell);
    // A number that this story computes and does not show stands in its panel alone.
    story.scrollIntoView();
    story.click();
  }
  const notFollowed = (why) => make("p", { class: "note", role: "alert" }, `The link to this page cannot be followed: ${why.replaceAll("\n  help: ", "; ")}`);
  const unfold = (element) => {
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };
  const linkOf = () => {
    try {
      return /^#(\d+);(.+)$/s.exec(decodeURIComponent(location.hash));
    } catch {
      return null; // A `%` that is none of an address.
    }
  };
  const [, number, link] = linkOf() ?? [];
  if (link) {
    wanted = { number, link };
    const story = document.querySelector(`.story > .opening[data-number="${number}"]`)?.parentElement;
    if (story) {
      unfold(story);
      story.scrollIntoView();
      await begin(story);
    } else {
      const main = document.querySelector("main");
      main.prepend(notFollowed(`it has no story ${number} that computes.`));
    }
  }
  // Whoever writes another link into the address goes there from the start.
  addEventListener("hashchange", () => linkOf() && location.reload());

  for (const element of [...waiting.keys()]) {
    if (!element.querySelector(":scope > .opening[data-src]")) await begin(element);
  }
  document.documentElement.dataset.live = "all";
})();

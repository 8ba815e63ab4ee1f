// The clock, replies without loading anew, drafts, pastes, quotes. Every page works without this file.

const at = (id) => document.getElementById(id);
const fields = (form) => new URLSearchParams(new FormData(form));
const post = (where, body) => fetch(where, { method: "POST", body, credentials: "same-origin" });
const busy = (answer) => answer.status === 429 || answer.status >= 500; // what was asked for did not happen: ask again
// For those who listen, and, where something went wrong, for those who see.
function say(text, wrong = false) {
  const told = at("told");
  told.textContent = text;
  told.className = wrong ? "notice" : "unseen";
}

// --- Drafts: kept a moment after the last key, and when the page is left -------------------------------------------

let unsaved = null, timer = 0, pasted = 0;

function keep(form) {
  unsaved = form;
  clearTimeout(timer);
  timer = setTimeout(save, 800);
}

function save() {
  clearTimeout(timer);
  if (!unsaved && !pasted) return;
  const form = unsaved ?? document.querySelector("form[data-draft]");
  if (!form) return;
  const body = fields(form), refused = pasted;
  if (refused) body.set("pasted", String(refused));
  unsaved = null;
  pasted = 0;
  const again = () => { unsaved ??= form; pasted += refused; };
  fetch("/draft", { method: "POST", body, credentials: "same-origin", keepalive: true })
    .then((answer) => { if (busy(answer)) again(); }, again);
}

document.addEventListener("input", (event) => {
  const form = event.target.closest?.("form[data-draft]");
  if (form) keep(form);
});
const storing = new Set(), stored = new Set();

// Answers are stored as a draft before the browser leaves them: without a server it shows a page of its own instead.
async function send(form, button) {
  storing.add(form);
  try {
    const answer = await post("/draft", fields(form));
    if (busy(answer)) throw new Error("the server could not");
    stored.add(form);
    form.requestSubmit(button);
  } catch {
    unsaved = form;
    delete form.dataset.sent;
    const note = at("unsent") ?? document.createElement("p");
    note.id = "unsent";
    note.className = "notice";
    note.setAttribute("role", "status");
    form.append(note);
    note.textContent = "This was not sent. Your answers are still here: please wait a moment, then press the button again.";
  } finally {
    storing.delete(form);
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  clearTimeout(timer);
  if (form === unsaved) unsaved = null;
  if (form.id === "say" || stored.delete(form)) return;
  if (storing.has(form) || event.timeStamp - Number(form.dataset.sent ?? -9999) < 2000) {
    event.preventDefault(); // a double click
    return;
  }
  form.dataset.sent = String(event.timeStamp);
  if (!form.matches("[data-draft]")) return;
  event.preventDefault();
  send(form, event.submitter);
});
addEventListener("pagehide", save);
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") save(); });

// --- Pastes: answers to items are the person's own words; what is refused is counted, said ---------------------------

const own = (field) => field.matches?.("form[data-draft=''] textarea, form[data-draft=''] input[type=text]:not([name=quote])");

for (const kind of ["paste", "drop"]) {
  document.addEventListener(kind, (event) => {
    if (!own(event.target)) return;
    event.preventDefault();
    pasted += 1;
    const note = at("pasted") ?? document.createElement("p");
    note.id = "pasted";
    note.className = "small";
    note.setAttribute("role", "status");
    event.target.after(note);
    note.textContent = "Pasting is off here: please answer in your own words.";
    keep(event.target.form);
  });
}

// --- Quotes: the patient's words, picked for a finding -------------------------------------------------------------

const findings = document.querySelector("[data-findings]");
if (findings) {
  let current = findings.querySelector(".finding");
  const status = document.createElement("p");
  status.className = "small";
  status.setAttribute("role", "status");
  at("log").before(status);
  findings.addEventListener("focusin", (event) => { current = event.target.closest(".finding") ?? current; });
  for (const turn of findings.querySelectorAll("#log .patient")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet pick";
    button.textContent = "Use these words";
    turn.append(button);
  }
  // A click on the button would take the selection away.
  findings.addEventListener("pointerdown", (event) => { if (event.target.closest(".pick")) event.preventDefault(); });
  findings.addEventListener("click", (event) => {
    const turn = event.target.closest(".pick")?.closest("li");
    if (!turn) return;
    const chosen = getSelection(), words = turn.querySelector("p");
    const inside = chosen.rangeCount && words.contains(chosen.anchorNode) && words.contains(chosen.focusNode);
    const text = ((inside && chosen.toString().trim()) || words.textContent.trim()).slice(0, 500);
    const rows = [...findings.querySelectorAll(".finding")];
    const quote = current.querySelector("[name=quote]");
    quote.value = text;
    status.textContent = `These words now stand in finding ${rows.indexOf(current) + 1}.`;
    keep(quote.form);
  });
}

// --- The talk ------------------------------------------------------------------------------------------------------

const talk = document.querySelector("[data-talk]");
if (talk) {
  const remind = Number(talk.dataset.remind);
  let left = 0, running = false, since = 0, before = Infinity, asking = false, sending = false, failed = 0;
  const unsent = "This was not sent. Your words are still here: please send again.";
  const unheard = new Map(); // words to which no answer came, and the id they had: they may have arrived nevertheless
  const told = () => Math.max(0, left - (running ? (performance.now() - since) / 1000 : 0));
  // A clock never says more than before: where the server gives a few seconds back, it waits until they are used.
  const seconds = () => Math.min(before, told());
  const here = () => at("say").elements.here.value;
  const state = () => at("state").dataset.state;
  const words = () => at("say").elements.text;
  // What somebody went on to write after words that were sent; all of it where they wrote something else.
  const added = (now, sent) => now === sent ? "" : now.startsWith(sent) && /^\s/.test(now.slice(sent.length))
    ? now.slice(sent.length).trimStart() : now;

  function set(clock) {
    left = clock.left;
    running = clock.running;
    since = performance.now();
    show();
  }

  function show() {
    const now = seconds(), whole = Math.ceil(now);
    at("clock").querySelector("strong").textContent = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
    at("stands").textContent = running ? "" : failed ? "; no connection" : "; the clock stands still";
    at("clock").classList.toggle("late", now <= remind);
    for (const mark of [300, remind, 60]) {
      if (before > mark && now <= mark && now > 0 && before !== Infinity) {
        // The reminder is for everybody: beside the field, wherever the clock is.
        say(`${mark % 60 ? `${mark} seconds` : mark === 60 ? "1 minute" : `${mark / 60} minutes`} left.`, mark <= remind);
      }
    }
    before = now;
  }

  // What the server shows now, put into this page: new turns at the end of the log, focus and words left alone.
  function take(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    if (!page.querySelector("[data-talk]")) { location.assign("/"); return; }
    const log = at("log"), shown = log.querySelectorAll("li:not(.opening)").length;
    const turns = [...page.querySelectorAll("#log li:not(.opening)")].slice(shown);
    if (turns.length) log.querySelector(".opening")?.remove();
    for (const turn of turns) log.querySelector("ol").append(document.adoptNode(turn));
    if (turns.length) log.scrollTop = log.scrollHeight;
    for (const name of ["here", "client"]) {
      at("say").elements[name].value = page.querySelector(`#say [name=${name}]`).value;
    }
    at("state").replaceChildren(...page.getElementById("state").childNodes);
    for (const link of at("state").querySelectorAll("a")) link.remove(); // it comes by itself
    at("state").dataset.state = page.getElementById("state").dataset.state;
    at("send").disabled = state() !== "yours";
    const finish = page.getElementById("finish");
    if (finish && at("finish")) at("finish").replaceWith(document.adoptNode(finish));
    const clock = page.getElementById("clock").dataset;
    set({ left: Number(clock.left), running: clock.running === "yes" });
    for (const [sent, client] of unheard) {
      if (!turns.some((turn) => turn.dataset.client === `page ${client}`)) continue;
      const field = words(), rest = added(field.value, sent);
      if (rest !== field.value) { field.value = rest; keep(at("say")); }
      say(rest ? "Your message had arrived. What is written below is not sent yet." : "Your message had arrived.", true);
      unheard.clear();
    }
  }

  async function look() {
    if (asking || sending) return;
    asking = true;
    try {
      const answer = await fetch("/status", { credentials: "same-origin" });
      if (answer.status === 403) { location.assign("/"); return; }
      const now = await answer.json();
      if (failed > 1) say(unheard.has(words().value) ? unsent : "", unheard.has(words().value));
      failed = 0;
      if (now.state === "over") { save(); location.assign("/"); return; }
      if (now.here !== here() || now.state !== state()) {
        const page = await fetch("/", { credentials: "same-origin" });
        if (busy(page)) throw new Error("the server could not"); // its notice is no page of a talk, to be left for
        take(await page.text());
      } else set(now);
    } catch {
      failed += 1;
      set({ left: seconds(), running: false }); // what it says without a server is not known
      if (failed === 2) say("There is no connection. What you write stays here, and we keep trying.", true);
    } finally {
      asking = false;
    }
  }

  talk.addEventListener("submit", async (event) => {
    if (event.target.id !== "say") return;
    event.preventDefault();
    const field = words(), body = fields(event.target), wrote = field.value;
    if (sending || state() !== "yours" || !field.value.trim()) { field.focus(); return; }
    // The same words keep their id, so that they are stored once; others, to which it may not belong, get their own.
    const client = unheard.get(wrote) ?? `${body.get("client")}${unheard.size ? `-${unheard.size}` : ""}`;
    body.set("client", client);
    sending = true;
    at("send").disabled = true;
    field.focus();
    try {
      const answer = await post("/do/say", body);
      const text = await answer.text();
      if (answer.ok) {
        say("");
        at("error-text")?.remove();
        field.removeAttribute("aria-invalid");
        // Empty; or these words, where they came late and were not sent: from another tab, that knew less.
        const late = new DOMParser().parseFromString(text, "text/html").querySelector("#say [name=text]")?.value ?? "";
        if (!late) field.value = added(field.value, wrote); // what was written meanwhile stays
        unheard.delete(wrote);
        take(text);
        unheard.clear();
        if (late) say("This was not sent: the conversation had gone on. Your words are still here.", true);
        if (field.value) keep(at("say"));
      } else {
        const page = new DOMParser().parseFromString(text, "text/html");
        const again = page.getElementById("say");
        if (answer.status === 422 && again) {
          at("say").replaceWith(document.adoptNode(again));
          words().value = field.value;
        }
        else if (answer.status === 409) { event.target.elements.client.value = client; event.target.submit(); } // too late: the next page says so
        else if (answer.status === 429) say("Too many requests. Please wait a minute, then send again.", true);
        else if (answer.status >= 500) throw new Error("the server could not");
        else location.assign("/");
        words().focus();
      }
    } catch {
      unheard.set(wrote, client);
      say(unsent, true);
    } finally {
      sending = false;
      if (at("send")) at("send").disabled = state() !== "yours";
    }
  });
  talk.addEventListener("keydown", (event) => {
    if (event.target === words() && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      at("say").requestSubmit();
    }
  });

  const clock = at("clock").dataset;
  for (const link of at("state").querySelectorAll("a")) link.remove();
  set({ left: Number(clock.left), running: clock.running === "yes" });
  at("log").scrollTop = at("log").scrollHeight;
  setInterval(show, 500);
  let beat = 0;
  setInterval(() => {
    beat += 1;
    if (state() !== "yours" || seconds() <= 0 || beat % 2 === 0) look();
  }, 1500);
}

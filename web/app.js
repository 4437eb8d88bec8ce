"use strict";
// Changes the answer in place, copies commands, and asks the engine for what is not written. No rule about versions is in here:
// every answer is a page that Python rendered, fetched from the site or made by the same program in a worker.
(() => {
  const body = document.body;
  const opened = location.href;  // the addresses in the body lead from here, whatever answer is shown later
  const root = new URL(body.dataset.root || "./", location.href);
  const build = document.querySelector("meta[name=build]").content;
  const written = body.dataset.written && new URL(body.dataset.written, location.href).href;
  const disk = location.protocol === "file:";
  const $ = (id) => document.getElementById(id);
  const say = (text) => { $("status").textContent = text; };
  const remembered = (name, text) => {
    try {
      if (text !== undefined) localStorage.setItem(name, text);
      return localStorage.getItem(name);
    } catch { return null; }  // a browser that keeps nothing
  };

  // ---- the parts of a page that come anew with each answer
  const furnish = () => {
    for (const button of document.querySelectorAll(".copy")) button.hidden = false;
    for (const row of document.querySelectorAll(".seg[role=group]")) {  // one stop of the Tab key a row, arrows within
      const all = [...row.querySelectorAll("a.b")];
      const stop = all.find((one) => one.matches(".on")) || all[0];
      for (const one of all) one.tabIndex = one === stop ? 0 : -1;
    }
    if ($("q")) { for (const [name, text] of [["role", "combobox"], ["aria-controls", "choices"], ["aria-expanded", "false"], ["aria-autocomplete", "list"]]) $("q").setAttribute(name, text); }
    const chosen = $(`with-${remembered("with") || ""}`);
    if (chosen) chosen.checked = true;
    for (const seg of document.querySelectorAll(".seg")) {  // on a phone the row scrolls
      const on = seg.querySelector(".on");
      if (on && seg.scrollWidth > seg.clientWidth) seg.scrollLeft = on.offsetLeft - seg.clientWidth / 3;
    }
    const own = document.querySelector("[data-link]");
    if (own && body.dataset.shown) own.href = body.dataset.shown;
  };
  let at = location.href.split("#")[0];
  const keyOf = (node) => {
    const row = node && node.closest && node.closest(".seg");
    return row ? [row.getAttribute("aria-labelledby"), [...row.querySelectorAll("a, select, input, summary")].indexOf(node)] : null;
  };
  const fix = (part, from) => {  // the links of a page lead from its own folder, wherever they are shown
    for (const name of ["href", "action"]) {
      for (const node of part.querySelectorAll(`[${name}]:not([${name}^="#"])`)) node.setAttribute(name, new URL(node.getAttribute(name), from).href);
    }
  };
  const swap = (text, url, { push = true, focus = true } = {}) => {
    const made = typeof text === "string" ? new DOMParser().parseFromString(text, "text/html") : text;
    const theirs = made.querySelector("meta[name=build]");
    if (!theirs || theirs.content !== build || !made.getElementById("answer")) return false;  // another build: not in this page
    const key = focus ? keyOf(document.activeElement) : null;
    const inBox = focus && document.activeElement && document.activeElement.closest("#box");
    fix(made.getElementById("main"), new URL(url, location.href));
    if (push) history.pushState(null, "", url);
    at = location.href.split("#")[0];
    document.title = made.title;
    body.dataset.shown = url;
    delete body.dataset.ask;
    $("main").replaceChildren(...made.getElementById("main").childNodes);
    furnish();
    if (key) {
      const row = document.querySelector(`.seg[aria-labelledby="${key[0]}"]`);
      const node = row && row.querySelectorAll("a, select, input, summary")[key[1]];
      if (node) node.focus({ preventScroll: true });
    }
    if (inBox && $("q")) $("q").focus({ preventScroll: true });
    $("main").removeAttribute("aria-busy");
    const title = $("cause") && $("cause").querySelector("h1, h2") || $("says");
    say(title ? title.textContent.trim() : document.title);
    return true;
  };

  // ---- the engine in the browser: the same program, in a worker, for questions without a page
  let worker = null;
  let number = 0;
  const waiting = new Map();
  const engine = (query, tell, mine = false) => new Promise((resolve, reject) => {
    if (!worker) {
      worker = new Worker(new URL(body.dataset.engine, opened), { type: "module" });
      worker.onmessage = ({ data }) => {
        if (data.loaded !== undefined) { for (const entry of waiting.values()) entry.tell(data); return; }
        const entry = waiting.get(data.id);
        waiting.delete(data.id);
        if (entry) (data.html ? entry.resolve(data.html) : entry.reject(new Error(data.error)));
      };
      worker.onerror = (event) => {
        for (const entry of waiting.values()) entry.reject(new Error(event.message || "the engine cannot be loaded"));
        waiting.clear();
        worker = null;
      };
    }
    number += 1;
    waiting.set(number, { resolve, reject, tell });
    worker.postMessage({ id: number, query, mine });
  });
  const quoted = (word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`);
  const line = (query) => {
    const words = ["compatkb", "resolve"];
    for (const [name, text] of new URLSearchParams(query)) {
      if (text.trim()) words.push(...(name === "q" ? [text.trim()] : [`--${name}`, quoted(text.trim())]));
    }
    return words.join(" ");
  };
  let latest = 0;
  const keyOfQuery = (query) => [...new URLSearchParams(query)].map(([name, text]) => `${name}=${text.trim()}`).filter((part) => !part.endsWith("=")).sort().join("&");
  const files = {};
  const file = (name) => { files[name] ||= fetch(new URL(body.dataset[name], opened)).then((response) => response.json()).catch(() => ({})); return files[name]; };
  const plain = (text) => text.toLowerCase().replace(/[\s\-_®™*()/]/g, "");
  // reads words by the names that the parser knows, where each of them is one; else the engine has to
  let isWider = false;  // the sheet has families: of a model it says less than the engine
  const readHere = async (query) => {
    const given = new URLSearchParams(query);
    isWider = false;
    const typed = given.getAll("q").join(" ").split(/[\s,;?!]+/).filter(Boolean);
    if (!typed.length) return keyOfQuery(query);
    const names = new Map();
    for (const [label, kind, name, value, ...more] of await file("words")) {
      for (const one of [label, ...more]) { const key = plain(one); if (!names.has(key) || (names.get(key)[0] === "" && name)) names.set(key, [name, value, kind]); }
    }
    const found = {};
    for (let n = 0; n < typed.length;) {
      let count = Math.min(5, typed.length - n);
      let hit;
      for (; count && !hit; count -= 1) hit = names.get(plain(typed.slice(n, n + count).join("")));
      if (!hit) return null;
      n += count + 1;
      if (!hit[0] && hit[1] === "") { if (typed.length === 1) return null; return null; }
      found[hit[0]] = hit[1];
      isWider ||= hit[0] === "hardware" && hit[2] === "GPU or processor";
    }
    given.delete("q");
    if (found.hardware) { given.delete("device"); found.device = "xpu"; }
    for (const [name, value] of Object.entries(found)) given.set(name, value);
    return keyOfQuery(given.toString());
  };
  const sheetPage = async (key) => {
    const { lines, pages } = await file("sheet");
    if (!pages || !pages[key]) return null;
    let line = "";
    const whole = lines.map(([shared, rest]) => { line = line.slice(0, shared) + rest; return line; });
    const [title, ...main] = pages[key].map((n) => whole[n]);
    const made = document.implementation.createHTMLDocument(title);
    made.head.insertAdjacentHTML("beforeend", `<meta name="build" content="${build}">`);
    made.body.innerHTML = `<main id="main">${main.join("")}</main>`;
    return made;
  };
  const fromSheet = async (key, url, push) => {
    const made = await sheetPage(key);
    return Boolean(made) && swap(made, url, { push, focus: push });
  };
  const unwritten = async (url, push) => {
    const query = new URL(url, location.href).search.slice(1);
    latest += 1;
    const mine = latest;
    if (!disk && body.dataset.written) {
      const key = await readHere(query);
      const at = key !== null && ((await file("written"))[key] || await fromSheet(key, url, push));
      if (mine !== latest) return;
      if (at && at !== true) {
        if (!isWider) { await go(new URL(at, root).href, push, true); return; }
        const family = await (await fetch(new URL(at, root))).text();
        if (mine !== latest || !swap(family, url, { push })) return;
      }
      if (at && isWider && body.dataset.engine) {
        $("main").setAttribute("aria-busy", "true");  // grey: it is the answer for the family
        const html = await engine(query, () => {}).catch(() => "");
        if (mine === latest && !(html && swap(html, url, { push: false }))) $("main").removeAttribute("aria-busy");
      }
      if (at) return;
    }
    if (!$("line")) {
      try {
        const ask = await fetch(new URL("ask.html", root));
        if (mine !== latest) return;
        if (!swap(await ask.text(), url, { push })) { location.assign(url); return; }
        push = false;
      } catch { location.assign(url); return; }
    }
    $("line").textContent = line(query);
    const told = $("engine");
    if (disk) {
      told.textContent = "Pages opened from a disk cannot load the engine. The command line answers this question:";
      return;
    }
    if (!body.dataset.engine) return;
    told.textContent = `Loading the engine, ${body.dataset.engineSize}, once. Until it is there, the command line answers:`;
    const bar = $("progress");
    bar.hidden = false;
    try {
      const html = await engine(query, ({ loaded, total, word }) => {
        if (mine !== latest || !$("engine")) return;
        bar.value = total ? loaded / total : 0;
        if (word) $("engine").textContent = word;
      });
      if (mine === latest && !swap(html, url, { push, focus: !push })) throw new Error("the site was built anew: reload the page");
    } catch (error) {
      if (mine !== latest || !$("engine")) return;
      bar.hidden = true;
      $("engine").textContent = `The engine cannot answer here (${error.message}). The command line does:`;
    }
  };

  // ---- going to another question
  const isAsk = (url) => /\/ask\.html$/.test(new URL(url, location.href).pathname);
  const go = async (url, push = true, replace = false) => {
    $("main").setAttribute("aria-busy", "true");
    if (isAsk(url)) { await unwritten(url, push); return; }
    latest += 1;
    const mine = latest;
    try {
      const response = await fetch(url);
      const text = await response.text();
      if (mine !== latest) return;
      if (replace) history.replaceState(null, "", url);
      if (swap(text, url, { push })) return;
    } catch { if (mine !== latest) return; }
    if (push) location.assign(url); else location.reload();
  };
  addEventListener("popstate", () => {
    if (location.href.split("#")[0] !== at) go(location.href, false);  // not for a place within this page
  });
  addEventListener("click", (event) => {
    const button = event.target.closest(".copy");
    if (button) { copy(button); return; }
    const link = event.target.closest("a[data-q], a.cell[href]");
    if (!link || disk || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    if (link.matches(".cell")) under(link).catch(() => location.assign(link.href)); else go(link.href);
  });
  // ---- a cell of a map: verdict and command under it
  const under = async (cell) => {
    const made = isAsk(cell.href) && body.dataset.written ? await sheetPage(keyOfQuery(new URL(cell.href).search))
      : new DOMParser().parseFromString(await (await fetch(cell.href)).text(), "text/html");
    const answer = made && made.getElementById("answer");
    if (!answer) { location.assign(cell.href); return; }
    for (const part of answer.querySelectorAll("dl, .folds, .two > div + div, .then, .quiet, a.src")) part.remove();
    answer.insertAdjacentHTML("beforeend", "<p><a>The whole answer</a></p>");
    answer.lastElementChild.firstElementChild.href = cell.href;
    fix(answer, new URL(cell.href));
    answer.id = "under";
    for (const old of document.querySelectorAll("#under, .cell[aria-current]")) if (old.id) old.remove(); else old.removeAttribute("aria-current");
    cell.setAttribute("aria-current", "true");
    cell.closest(".scroll").after(answer);
    furnish();
    say(answer.querySelector("h1").textContent);
    answer.scrollIntoView({ block: "nearest" });
  };
  let turning;
  let typing = false;
  for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, (event) => { typing = kind === "keydown" && event.key !== "Enter"; }, true);
  addEventListener("change", (event) => {
    const field = event.target;
    if (field.name === "with" && field.type === "radio") { remembered("with", field.value); return; }
    if (!field.matches(".list select")) return;
    const at = field.selectedOptions[0].dataset.at;
    const url = at ? new URL(at, root).href : `${field.form.action.split("?")[0]}?${asked(field.form)}`;
    clearTimeout(turning);
    turning = setTimeout(() => { if (disk) location.assign(url); else go(url); }, typing ? 900 : 0);  // a key may not be the last one
  });
  const asked = (form) => new URLSearchParams([...new FormData(form)].filter(([, text]) => text.trim())).toString();
  // ---- check mine: the server on this machine judges what was pasted, or the engine in this browser
  const judge = async (form) => {
    const query = new URLSearchParams([...new FormData(form)].filter(([, text]) => typeof text === "string")).toString();
    const live = !body.dataset.written;
    $("answer").setAttribute("aria-busy", "true");
    say("Checking");
    try {
      const bar = $("progress");
      const html = live ? await (await fetch(form.action, { method: "POST", body: new URLSearchParams(query) })).text()
        : await engine(query, ({ loaded, total, word }) => { bar.hidden = false; bar.value = total ? loaded / total : 0; if (word) $("engine").textContent = "Starting the engine"; }, true);
      bar.hidden = true;
      if (!live) $("engine").textContent = "";
      const made = new DOMParser().parseFromString(html, "text/html").getElementById("answer");
      $("answer").replaceWith(made);
      furnish();
      say((made.querySelector(".bar strong, h2") || made).textContent);
      made.focus({ preventScroll: true });
      made.scrollIntoView({ block: "nearest" });
    } catch (error) {
      $("answer").removeAttribute("aria-busy");
      $("engine").textContent = `The engine cannot answer here (${error.message}). In the terminal: compatkb check`;
    }
  };
  const open = async (file) => {
    $("text").value = await file.text();
    const names = [...document.querySelectorAll("#mine select[name=name] option")].map((option) => option.value);
    document.querySelector("#mine select[name=name]").value = names.includes(file.name) ? file.name : "";
    $("mine").requestSubmit();
  };
  if ($("mine")) {
    addEventListener("change", (event) => { if (event.target.id === "file" && event.target.files[0]) open(event.target.files[0]); });
    for (const kind of ["dragover", "dragleave", "drop"]) {
      addEventListener(kind, (event) => {
        event.preventDefault();
        $("text").classList.toggle("over", kind === "dragover");
        if (kind === "drop" && event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
      });
    }
  }
  addEventListener("submit", (event) => {
    const form = event.target;
    if (form.id === "mine" && !disk && (!body.dataset.written || body.dataset.engine)) { event.preventDefault(); judge(form); return; }
    if (disk || form.method !== "get") return;
    event.preventDefault();
    go(`${form.action.split("?")[0]}?${asked(form)}`);
  });
  // ---- the box: suggestions while somebody types, keys
  let chosen = -1;
  const keyed = plain;
  const listed = () => [...document.querySelectorAll("#choices li")];
  const mark = (n) => {
    const items = listed();
    chosen = items.length ? (n + items.length) % items.length : -1;
    items.forEach((item, m) => item.setAttribute("aria-selected", String(m === chosen)));
    if (chosen < 0) $("q").removeAttribute("aria-activedescendant"); else $("q").setAttribute("aria-activedescendant", items[chosen].id);
  };
  const close = () => { const list = $("choices"); if (list) { list.hidden = true; list.replaceChildren(); mark(-1); chosen = -1; $("q").setAttribute("aria-expanded", "false"); } };
  const suggest = async () => {
    const field = $("q");
    const every = await file("words");
    const parts = field.value.split(/\s+/).filter(Boolean);
    let found = [];
    let from = 0;
    for (from = Math.max(0, parts.length - 4); from < parts.length && !found.length; from += 1) {
      const key = keyed(parts.slice(from).join(" "));
      if (key.length < 2) continue;
      found = every.filter(([label, , , , ...more]) => [label, ...more].some((name) => keyed(name).startsWith(key)));
      if (!found.length && key.length > 2) found = every.filter(([label]) => keyed(label).includes(key));
    }
    const list = $("choices");
    if (!list || field !== document.activeElement) return;
    const before = parts.slice(0, from - 1).join(" ");
    list.replaceChildren(...found.slice(0, 7).map(([label, kind], n) => {
      const item = document.createElement("li");
      item.id = `choice-${n}`;
      item.setAttribute("role", "option");
      item.dataset.text = `${before} ${label}`.trim();
      item.append(label);
      const said = document.createElement("span");
      said.textContent = kind;
      item.append(said);
      return item;
    }));
    list.hidden = !found.length;
    field.setAttribute("aria-expanded", String(Boolean(found.length)));
    mark(-1);
    chosen = -1;
  };
  const take = (item) => { $("q").value = item.dataset.text; close(); $("box").requestSubmit(); };
  addEventListener("input", (event) => { if (event.target.id === "q" && !disk) suggest(); });
  addEventListener("focusout", (event) => { if (event.target.id === "q") setTimeout(close, 150); });
  addEventListener("mousedown", (event) => { const item = event.target.closest("#choices li"); if (item) { event.preventDefault(); take(item); } });
  addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key === "/" && !field.matches("input, textarea, select")) {
      event.preventDefault();
      if ($("q")) $("q").focus(); else location.assign(new URL("index.html", root));
    }
    if (field.id === "q") {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") { if (listed().length) { event.preventDefault(); mark(chosen + (event.key === "ArrowDown" ? 1 : chosen < 0 ? 0 : -1)); } }
      if (event.key === "Enter" && chosen >= 0) { event.preventDefault(); take(listed()[chosen]); }
      if (event.key === "Escape") close();
      if (event.key === "Backspace" && !field.value) { const last = [...document.querySelectorAll("#box .chip a")].pop(); if (last) last.click(); }
      return;
    }
    const row = field.closest(".seg[role=group]");
    if (row && field.matches("a.b") && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      const all = [...row.querySelectorAll("a.b, select")];
      const next = all[(all.indexOf(field) + (event.key === "ArrowRight" ? 1 : all.length - 1)) % all.length];
      event.preventDefault();
      next.focus();
    }
    if (event.key === "Escape") for (const fold of document.querySelectorAll(".fold[open]")) { fold.open = false; fold.querySelector("summary").focus(); }
  });

  // ---- copying
  const copy = async (button) => {
    const pre = button.parentElement.querySelector("pre");
    const text = pre.textContent;
    const was = button.textContent;
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const range = document.createRange();
      range.selectNodeContents(pre);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
    button.textContent = done ? "Copied" : "Selected";
    say(done ? "Copied" : "Selected; copy it with the keyboard");
    setTimeout(() => { button.textContent = was; }, 1600);
  };

  // ---- the table of image tags: a filter
  const filter = () => {
    const field = $("find");
    if (!field) return;
    $("finder").hidden = false;
    const rows = [...document.querySelectorAll(".images tbody tr")];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const run = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row, n) => { row.hidden = !words.every((word) => texts[n].includes(word)); });
      $("found").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} tags`;
    };
    field.value = new URLSearchParams(location.hash.slice(1)).get("find") || "";
    field.addEventListener("input", () => { history.replaceState(null, "", `#${new URLSearchParams({ find: field.value })}`); run(); });
    run();
  };

  // ---- the system, guessed on the front page alone, and marked as a guess
  const guess = async () => {
    if (body.dataset.home === undefined || location.search || disk) return;
    const agent = navigator.userAgent;
    const name = /Windows NT/.test(agent) ? "windows" : /Linux/.test(agent) && !/Android/.test(agent) ? "linux" : "";
    const link = name && [...document.querySelectorAll("#row-os + .seg a")].find((a) => new RegExp(`[=/]${name}(\\.html)?$`).test(a.getAttribute("href")));
    if (!link || link.matches(".no")) return;
    const text = await (await fetch(link.href)).text();
    if (document.activeElement && document.activeElement !== body) return;  // somebody is at work already
    const home = location.href;
    const box = $("box");  // what is typed is asked as it is, without the guess
    if (!swap(text, link.href, { push: false, focus: false })) return;
    $("box").replaceWith(box);
    body.dataset.shown = link.href;
    history.replaceState(null, "", home);
    const now = document.querySelector("#row-os + .seg a.on");
    if (now) { now.classList.add("guess"); now.href = link.href; }  // to press it is to say so
  };

  if (!disk) fix(document, location.href);
  furnish();
  filter();
  $("stale").hidden = Date.now() - Date.parse($("day").dateTime) < 180 * 86_400_000;
  document.documentElement.dataset.ready = "";
  if (body.dataset.home !== undefined && /^#[a-z-]+=/.test(location.hash)) {  // as links of older builds are
    location.replace(`${new URL(body.dataset.askAt, location.href).href.split("?")[0]}?${location.hash.slice(1)}`);
  } else if (location.search && body.dataset.written && (body.dataset.ask !== undefined || body.dataset.home !== undefined)) unwritten(location.href, false);
  else guess().catch(() => {});
  if (!disk && body.dataset.written) {  // what the next question may need is fetched while nobody waits for it
    const idle = window.requestIdleCallback || ((call) => setTimeout(call, 1500));
    const spare = !(navigator.connection && navigator.connection.saveData);
    if (navigator.serviceWorker) navigator.serviceWorker.register(new URL("sw.js", root)).catch(() => {});
    const keep = async () => {  // what is needed without a network
      const own = [...document.querySelectorAll("header a, link[rel=stylesheet], link[rel=icon], script[src]")].map((node) => node.href || node.src);
      const pages = ["./", "ask.html", ...Object.values(await file("written"))].map((at) => new URL(at, root).href);
      await Promise.all([file("sheet"), file("words")]);
      const assets = ["written", "sheet", "words"].map((name) => new URL(body.dataset[name], opened).href);
      (await navigator.serviceWorker.ready).active.postMessage([...assets, ...own, ...pages]);
    };
    addEventListener("load", () => idle(() => { if (spare && navigator.serviceWorker) keep().catch(() => {}); }));
    if (body.dataset.engine && spare) addEventListener("load", () => setTimeout(() => idle(() => engine("", () => {}).catch(() => {})), 4000));
  }
  document.documentElement.dataset.begun = "";
})();

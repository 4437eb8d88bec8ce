"use strict";
// Looks up what was worked out beforehand. No rule about versions is in here: a choice leads to a table, the table to an answer.
(() => {
  const NEWEST = "\u0003";
  const NAMED = [["\u0001", "os"], ["\u0002", "python"], ["\u0004", "hardware"]];
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const held = new Map();
  const asked = new Map();
  let form = null;

  // ---- data: script files call compatkb.put, since pages opened from a disk may not fetch anything else
  const put = (name, content) => {
    held.set(name, content);
    if (name === "form") form = content;
  };
  const load = (name) => {
    if (held.has(name)) return Promise.resolve(held.get(name));
    if (!asked.has(name)) {
      asked.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = `${here}data/${encodeURI(name)}.js`;
        script.onload = () => (held.has(name) ? resolve(held.get(name)) : reject(new Error(`${name} is empty`)));
        script.onerror = () => {
          asked.delete(name);
          script.remove();
          reject(new Error(`${name} cannot be loaded`));
        };
        document.head.append(script);
      }));
    }
    return asked.get(name);
  };

  // ---- choices: an object of field ids; the part of the address behind # holds them under their option names
  const fieldOf = (id) => form.fields.find((field) => field.id === id);
  const placeOf = (id, value) => (value ? fieldOf(id).values.findIndex((entry) => entry[0] === value) + 1 : 0);
  const parse = (text) => {
    const state = {};
    const strange = [];
    for (const [name, value] of new URLSearchParams(text)) {
      const field = form.fields.find((entry) => entry.param === name);
      if (field && field.values.some((entry) => entry[0] === value)) state[field.id] = value;
      else if (value && name !== "image") strange.push(`${name} ${value}`);
    }
    const image = form.images.find((entry) => entry[0] === new URLSearchParams(text).get("image"));
    if (image && state.device === image[1] && Object.entries(image[2]).every(([id, value]) => state[id] === value)) state.image = image[0];
    state.device ||= fieldOf("device").values[0][0];
    return [state, strange];
  };
  const write = (state) => {
    const text = new URLSearchParams();
    for (const field of form.fields) if (state[field.id]) text.append(field.param, state[field.id]);
    if (state.image) text.append("image", state.image);
    return text.toString();
  };
  const command = (state) => {
    const words = ["compatkb", "resolve"];
    for (const field of form.fields) if (state[field.id] && field.option) words.push(field.option, state[field.id]);
    return words.join(" ");
  };

  // ---- looking up
  const APART = new Set(["device", "main", "python", "os", "image"]);
  const tableOf = (state) =>
    Object.keys(state).filter((id) => state[id] && !APART.has(id)).sort().map((id) => `${id}=${state[id]}`).join("&");
  const sheetOf = (state) => `${state.device}-${state.main || form.any}`;
  const isAnswer = (verdict) => form.verdicts[verdict].answer;

  const renamed = (content, state) => {
    if (typeof content === "string") {
      return NAMED.reduce((text, [mark, id]) => (text.includes(mark) ? text.replaceAll(mark, state[id] || "") : text), content);
    }
    if (Array.isArray(content)) return content.map((part) => renamed(part, state));
    if (content && typeof content === "object") {
      return Object.fromEntries(Object.entries(content).map(([name, part]) => [name, renamed(part, state)]));
    }
    return content;
  };
  const unfolded = (sheet, state, number) => {
    const cited = (record) => ({ ...record, sources: record.sources.map((n) => ({ text: sheet.sources[n][0], url: sheet.sources[n][1] })) });
    const disputed = (record) => ({ ...record, disputes: record.disputes.map((n) => sheet.disputes[n]) });
    const stack = (n) => {
      const [body, ...head] = sheet.stacks[n];
      const whole = disputed(cited({ ...sheet.bodies[body] }));
      sheet.head.forEach((name, place) => { whole[name] = head[place]; });
      for (const name of ["conda", "container"]) whole[name] = whole.base ? whole[name].replaceAll(NEWEST, whole.base) : "";
      whole.images = whole.images.map((image) => disputed(sheet.images[image]));
      whole.warnings = whole.warnings.map((warning) => cited(sheet.warnings[warning]));
      return whole;
    };
    const [verdict, stacks, causes, nearest] = sheet.answers[number];
    return renamed({
      verdict,
      stacks: stacks.map(stack),
      causes: causes.map((n) => disputed(cited(sheet.causes[n]))),
      nearest: nearest.map(([relaxed, where, n]) => ({ relaxed, where, stack: stack(n) })),
    }, state);
  };
  const exact = async (state) => {
    const name = sheetOf(state);
    const table = tableOf(state);
    const sheet = await load(`answers/${name}`);
    const rows = sheet.tables[table];
    if (!rows) return null;
    const number = sheet.rows[rows[placeOf("python", state.python)]][placeOf("os", state.os)];
    return number < 0 ? null : unfolded(sheet, state, number);
  };
  // Routes are answered apart from each other, so the stacks of one route are a part of those of all. The same holds of the
  // package that a route brings along, where all of the route's stacks have the version that is asked for.
  const cut = (stacks, field, value) => {
    if (field === "route") return stacks.filter((stack) => stack.route === value);
    const bound = form.bound[field];
    const own = bound ? stacks.filter((stack) => stack.route === bound.route) : [];
    return own.every((stack) => bound.releases[stack.packages[field]] === value) ? own : [];
  };
  const answer = async (state) => {
    // Where a combination was not worked out, fewer choices that already exclude every stack answer it too.
    const chosen = form.fields.map((field) => field.id).filter((id) => state[id] && id !== "device" && id !== "main");
    const parts = [];
    for (let bits = (1 << chosen.length) - 1; bits >= 0; bits -= 1) parts.push(chosen.filter((_, n) => bits >> n & 1));
    parts.sort((one, other) => other.length - one.length);
    for (const kept of parts) {
      const part = { device: state.device, ...(state.main ? { main: state.main } : {}) };
      for (const id of kept) part[id] = state[id];
      const found = await exact(part);
      const [left, more] = chosen.filter((id) => !kept.includes(id));
      if (found && left && !more && isAnswer(found.verdict)) {
        const stacks = cut(found.stacks, left, state[left]);
        if (stacks.length) return { ...found, verdict: stacks[0].verdict, stacks, state, aside: [] };
      }
      if (found && (kept.length === chosen.length || found.verdict === form.denied)) {
        return { ...found, state: part, aside: chosen.filter((id) => !kept.includes(id)) };
      }
    }
    return { verdict: null, stacks: [], causes: [], nearest: [], state, aside: [] };
  };

  // ---- building the page: only ever text nodes, so data cannot become markup
  const el = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
    return node;
  };
  const badge = (verdict, big) => el("span", { class: `verdict ${verdict}${big ? " big" : ""}` }, form.verdicts[verdict].word);
  const safe = (url) => (/^https?:\/\//.test(url || "") ? url : null);
  const source = (entry) => {
    const url = safe(entry.url);
    return el("li", {}, url ? el("a", { href: url, rel: "noreferrer" }, entry.text) : entry.text);
  };
  const sources = (entries, open) => entries.length === 0 ? null
    : el("details", { class: "more", open: Boolean(open) },
      el("summary", {}, `Sources (${entries.length})`), el("ul", { class: "sources" }, entries.map(source)));
  const nameOf = (product) => (form.products[product] ? form.products[product][0] : product);
  const labelOf = (id, value) => (fieldOf(id).values.find((entry) => entry[0] === value) || [value, value])[1];

  let serial = 0;
  const copy = async (text, button) => {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const pre = button.parentElement.querySelector("pre");
      const range = document.createRange();
      range.selectNodeContents(pre);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
    const word = button.textContent;
    button.textContent = done ? "Copied" : "Selected";
    document.getElementById("status").textContent = done ? "Copied" : "Selected; copy it with the keyboard";
    setTimeout(() => { button.textContent = word; }, 1600);
  };
  const line = (text, what) => el("div", { class: "command" },
    el("pre", {}, text), el("button", { type: "button", "aria-label": `Copy ${what}`, onclick: (event) => copy(text, event.currentTarget) }, "Copy"));

  const tabs = (stack, title) => {
    const checked = stack.proof ? [["p", "Then check that exactly this is installed:"], stack.proof] : [];
    const forms = [
      ["pip", stack.install.length ? [...stack.install, ...checked] : []],
      ["uv", stack.install_uv.length ? [...stack.install_uv, ...checked] : []],
      ["conda", stack.conda ? [["p", "environment.yml; Python comes from conda, the stack from pip:"], stack.conda] : []],
      ["container", [...(stack.container ? [["p", "Lines of a Dockerfile:"], stack.container] : []),
        ...stack.images.filter((image) => image.listed).slice(0, 1).flatMap((image) => [["p", "Or an image that contains it:"], `docker pull ${image.image}`])]],
      ["requirements.txt", stack.requirements ? [stack.requirements] : []],
    ].filter(([, lines]) => lines.length);
    if (!stack.install.length) return el("p", { class: "soft" }, form.words.noindex);
    serial += 1;
    const id = (kind, n) => `${kind}-${serial}-${n}`;
    const buttons = forms.map(([name], n) => el("button", {
      type: "button", role: "tab", id: id("tab", n), "aria-controls": id("panel", n), "aria-selected": n === 0 ? "true" : "false", tabindex: n === 0 ? null : "-1",
    }, name));
    const panels = forms.map(([name, lines], n) => el("div", { role: "tabpanel", class: "panel", id: id("panel", n), "aria-labelledby": id("tab", n), hidden: n > 0 },
      lines.map((text) => (Array.isArray(text) ? el("p", { class: "hint" }, text[1]) : line(text, `for ${name}`)))));
    const show = (n, focus) => {
      buttons.forEach((button, m) => {
        button.setAttribute("aria-selected", m === n ? "true" : "false");
        button.tabIndex = m === n ? 0 : -1;
        panels[m].hidden = m !== n;
      });
      if (focus) buttons[n].focus();
    };
    buttons.forEach((button, n) => {
      button.addEventListener("click", () => show(n));
      button.addEventListener("keydown", (event) => {
        const step = { ArrowRight: n + 1, ArrowLeft: n - 1, Home: 0, End: buttons.length - 1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        show((step + buttons.length) % buttons.length, true);
      });
    });
    return el("div", { class: "tabs" }, el("div", { role: "tablist", "aria-label": `Install ${title}` }, buttons), panels);
  };

  const notes = (stack) => {
    const warning = (entry) => el("li", { class: entry.kind }, el("strong", {}, `${form.words[entry.kind] || entry.kind}: `), entry.message);
    const open = (text) => el("li", { class: "open" }, el("strong", {}, "Open: "), text);
    const first = [...stack.warnings.filter((entry) => entry.kind !== "known-issue").map(warning), ...stack.unsettled.slice(0, 1).map(open)];
    const rest = [...stack.unsettled.slice(1).map(open), ...stack.warnings.filter((entry) => entry.kind === "known-issue").map(warning),
      ...stack.disputes.map((dispute) => el("li", { class: "dispute" }, el("strong", {}, "Sources disagree: "), disputeText(dispute)))];
    return [
      first.length ? el("ul", { class: "notes" }, first) : null,
      rest.length ? el("details", { class: "more" }, el("summary", {}, `More to know (${rest.length})`), el("ul", { class: "notes" }, rest)) : null,
    ];
  };
  const fact = (name, values) => (values && values.length ? [el("dt", {}, name), el("dd", {}, values.join(", "))] : []);
  const article = (stack, level, heading) => {
    const packages = Object.entries(stack.packages);
    const own = packages.filter(([product]) => (form.products[product] || [])[1] !== "leaf");
    const along = packages.filter(([product]) => (form.products[product] || [])[1] === "leaf");
    const title = own.slice(0, 2).map(([product, version]) => `${nameOf(product)} ${version}`).join(", ");
    const images = [...stack.images].sort((one, other) => Number(other.listed) - Number(one.listed));
    return el("article", { class: "stack" },
      el("header", {},
        el(`h${level}`, {}, heading || `${form.routes[stack.route] || stack.route}, ${stack.device}`,
          heading ? el("span", { class: "over" }, ` — ${form.routes[stack.route] || stack.route}, ${stack.device}`) : null),
        badge(stack.verdict)),
      el("dl", { class: "packages" }, own.map(([product, version]) => el("div", {}, el("dt", {}, nameOf(product)), el("dd", {}, version)))),
      el("dl", { class: "facts" },
        fact("Support", [`${form.supports[stack.support]} (sources read up to ${form.data_date})`]),
        fact("Python", stack.python), fact("System", [...stack.os, ...stack.arch]), fact("Hardware", stack.hardware),
        fact("GPU driver", stack.driver), fact("oneAPI", stack.oneapi), fact("glibc", stack.glibc),
        fact("Held to", Object.entries(stack.bounds).map(([product, spec]) => product + spec)),
        along.length ? fact("Brings along", along.slice(0, 3).map(([product, version]) => `${product} ${version}`).concat(along.length > 3 ? [`and ${along.length - 3} more`] : [])) : []),
      along.length > 3 ? el("details", { class: "more" }, el("summary", {}, `All that it brings along (${along.length})`),
        el("ul", { class: "tags" }, along.map(([product, version]) => el("li", {}, `${nameOf(product)} ${version}`)))) : null,
      notes(stack),
      tabs(stack, title),
      images.length === 0 ? null : el("details", { class: "more" }, el("summary", {}, `Image tags that contain it (${images.length})`),
        el("ul", { class: "tags" }, images.map((image) => el("li", {}, el("code", {}, image.image), image.listed ? "" : el("span", { class: "soft" }, " no longer listed"),
          image.basis === "inferred" ? el("span", { class: "soft" }, " contents inferred in part") : "", image.disputes.length ? el("span", { class: "soft" }, " disputed") : "")))),
      sources(stack.sources));
  };
  const disputeText = (dispute) => (dispute.holds === null
    ? `${dispute.about}; open, last looked at on ${dispute.decided}` : `${dispute.about}; decided ${dispute.decided}: ${dispute.holds}`);

  const question = (state) => {
    const words = form.fields.filter((field) => state[field.id] && field.id !== "device" && field.id !== "route")
      .map((field) => `${field.said} ${field.id === "hardware" || field.id === "os" ? labelOf(field.id, state[field.id]) : state[field.id]}`.trim());
    const over = state.route ? ` over ${labelOf("route", state.route)}` : "";
    return `${words.join(", ") || "Anything"} on ${state.device}${over}`;
  };
  const causeItem = (cause) => el("li", { class: cause.certain ? null : "unsure" }, el("p", {}, cause.message),
    cause.disputes.map((dispute) => el("p", { class: "soft" }, `Sources disagree: ${disputeText(dispute)}`)), sources(cause.sources));

  const draw = (state, found, strange) => {
    const box = document.getElementById("answer");
    const told = question(found.state);
    const parts = [el("h2", { id: "question" }, told)];
    if (strange.length) parts.push(el("p", { class: "remark" }, `The link names what the data do not have, and it was left out: ${strange.join(", ")}.`));
    if (found.verdict === null) {
      parts.push(el("p", {}, form.words.notworkedout), el("div", { class: "cli" }, line(command(state), "the command")));
      box.replaceChildren(...parts);
      document.getElementById("jump").replaceChildren(told);
      document.getElementById("status").textContent = `${told}: ${form.words.notworkedout}`;
      return;
    }
    document.getElementById("jump").replaceChildren(badge(found.verdict), " ", told);
    parts.push(el("div", { class: "summary" }, badge(found.verdict, true),
      el("span", { class: "asked" }, "as of ", el("time", { datetime: form.as_of }, form.as_of), ", data of ", el("time", { datetime: form.data_date }, form.data_date))));
    parts.push(el("p", {}, form.verdicts[found.verdict].meaning));
    if (found.aside.length) {
      parts.push(el("p", { class: "remark" }, `Set aside: ${found.aside.map((id) => `${fieldOf(id).label} ${labelOf(id, state[id])}`).join(", ")}. The other choices have no answer without it already.`));
    }
    if (found.causes.length) parts.push(el("h3", {}, "Why not"), el("ul", { class: "causes" }, found.causes.map(causeItem)));
    else if (!found.stacks.length) parts.push(el("h3", {}, "Why not"), el("p", {}, form.words.excluded));
    if (found.stacks.length) {
      const plural = found.stacks.length > 1;
      parts.push(el("h3", {}, isAnswer(found.verdict) ? (plural ? `${found.stacks.length} stacks, best first` : "The stack") : "What nothing speaks against"));
      const shown = isAnswer(found.verdict) ? 3 : 1;
      found.stacks.slice(0, shown).forEach((stack) => parts.push(article(stack, 4)));
      const rest = found.stacks.slice(shown);
      if (rest.length) {
        const more = el("details", { class: "more" }, el("summary", {}, `${rest.length} more for other Pythons, systems or versions`));
        more.addEventListener("toggle", () => { if (more.children.length === 1) more.append(...rest.map((stack) => article(stack, 4))); }, { once: true });
        parts.push(more);
      }
    }
    if (found.nearest.length) {
      parts.push(el("h3", {}, "What is near"));
      found.nearest.forEach((near) => {
        const given = near.relaxed.map((product) => nameOf(product)).join(", ");
        parts.push(article(near.stack, 4, `${form.sides[near.where]}, without holding to ${given}`));
      });
    }
    parts.push(el("h3", {}, "The same on the command line"), el("div", { class: "cli" }, line(command(found.state), "the command")));
    box.replaceChildren(...parts);
    document.getElementById("status").textContent = `${told}: ${form.verdicts[found.verdict].word}. ` +
      (found.stacks.length ? `${found.stacks.length} stacks.` : `${found.causes.length} causes, ${found.nearest.length} stacks near.`);
  };

  // ---- the form
  let state = {};
  let turn = 0;
  const show = async () => {
    turn += 1;
    const mine = turn;
    const [parsed, strange] = parse(location.hash.slice(1) || location.search.slice(1) || form.example);
    state = parsed;
    for (const id of [...form.fields.map((field) => field.id), "image"]) {
      for (const input of document.querySelectorAll(`[name="${id}"]`)) {
        if (input.type === "radio") input.checked = input.value === state[id];
        else {
          input.value = state[id] || "";
          input.classList.toggle("set", Boolean(state[id]));
        }
      }
    }
    try {
      const found = await answer(state);
      if (mine === turn) draw(state, found, strange);
    } catch (error) {
      if (mine === turn) document.getElementById("answer").replaceChildren(el("p", { class: "remark" }, `The answers could not be loaded: ${error.message}.`));
    }
    document.title = `${question(state)} · compatkb`;
    if (mine === turn) await narrow(mine);
    document.documentElement.dataset.shown = write(state);
  };

  // ---- what the choices exclude: a value is marked where it has no answer, and leaving its field open has one
  const told = (pair, chosen) => ({ verdict: pair[0], reason: renamed(pair[1], chosen) });
  const fromSummary = (chosen) => {
    const summary = held.get("summary");
    const rows = summary && (summary.tables[sheetOf(chosen)] || {})[chosen.route ? `route=${chosen.route}` : ""];
    return rows ? told(summary.pool[summary.rows[rows[placeOf("python", chosen.python)]][placeOf("os", chosen.os)]], chosen) : null;
  };
  const peek = (chosen) => {
    const sheet = held.get(`answers/${sheetOf(chosen)}`);
    if (!sheet) return fromSummary(chosen);
    const rows = sheet.tables[tableOf(chosen)];
    const number = rows ? sheet.rows[rows[placeOf("python", chosen.python)]][placeOf("os", chosen.os)] : -1;
    if (number >= 0) {
      const [verdict, , causes] = sheet.answers[number];
      return told([verdict, causes.length ? sheet.causes[causes[0]].message : ""], chosen);
    }
    for (const id of Object.keys(chosen)) {
      if (id === "device" || id === "main") continue;
      const { [id]: _, ...fewer } = chosen;
      const found = peek(fewer);
      if (found && found.verdict === form.denied) return found;
    }
    return null;
  };
  const isDenied = (found) => Boolean(found) && found.verdict === form.denied;
  const imageOf = (name) => form.images.find((image) => image[0] === name);
  const narrow = async (mine) => {
    await load("summary");
    if (mine !== turn) return;
    const lists = [];
    for (const field of form.fields) {
      const { [field.id]: own, ...open } = state;
      if (field.id === "device") open.device = field.values.map((entry) => entry[0]).find((value) => value !== own) || own;
      const free = !isDenied(peek(field.id === "device" ? state : open)) || field.id === "device";
      const excluded = new Map();
      for (const [value] of field.values) {
        const found = free ? peek({ ...open, [field.id]: value }) : null;
        if (isDenied(found) && (field.id !== "device" || value !== own || isDenied(peek(state)))) excluded.set(value, found.reason);
      }
      const select = document.getElementById(`field-${field.id}`);
      if (select) {
        for (const option of select.options) {
          if (!option.value) continue;
          option.textContent = (excluded.has(option.value) ? "\u2715 " : "") + labelOf(field.id, option.value);
        }
        select.toggleAttribute("data-impossible", excluded.has(own));
      }
      if (excluded.size && field.id !== "device") lists.push([field, excluded]);
    }
    const images = document.getElementById("field-image");
    for (const option of images.options) {
      const image = option.value && imageOf(option.value);
      if (!image) continue;
      const apart = image[1] !== state.device || Object.entries(image[2]).some(([id, value]) => state[id] && state[id] !== value);
      option.textContent = (apart ? "\u2715 " : "") + option.value;
    }
    const box = document.querySelector("#excluded > div");
    box.replaceChildren(...lists.flatMap(([field, excluded]) => {
      const reasons = new Map();
      for (const [value, reason] of excluded) reasons.set(reason, [...(reasons.get(reason) || []), labelOf(field.id, value)]);
      return [el("h3", {}, field.label), el("ul", {}, [...reasons].map(([reason, values]) =>
        el("li", {}, el("strong", {}, values.join(", ")), reason ? `: ${reason}` : "")))];
    }), ...(lists.length ? [] : [el("p", { class: "soft" }, "Nothing that the form offers.")]));
    document.querySelector("#excluded > summary").textContent = `What these choices exclude (${lists.reduce((sum, [, excluded]) => sum + excluded.size, 0)})`;
  };
  const changed = (event) => {
    let chosen = {};
    for (const [name, value] of new FormData(document.getElementById("form"))) if (value) chosen[name] = value;
    const image = imageOf(chosen.image);
    if (event.target.name === "image" && image) chosen = { device: image[1], ...image[2], image: image[0] };
    const hash = `#${write(chosen)}`;
    if (hash !== location.hash) location.hash = hash;
    else show();
  };
  // On a narrow screen the answer stands below the form: a bar tells the verdict until the answer is in sight, and leads to it.
  const lead = () => {
    const jump = document.getElementById("jump");
    const box = document.getElementById("answer");
    jump.addEventListener("click", () => {
      box.tabIndex = -1;
      box.focus({ preventScroll: true });
      box.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    });
    new IntersectionObserver(([entry]) => { jump.hidden = entry.isIntersecting || entry.boundingClientRect.top < 0; }).observe(box);
  };
  const start = () => {
    const node = document.getElementById("form");
    node.hidden = false;
    node.addEventListener("change", changed);
    node.addEventListener("submit", (event) => event.preventDefault());
    node.addEventListener("reset", (event) => {
      event.preventDefault();
      location.hash = `#${write({ device: state.device })}`;
    });
    addEventListener("hashchange", show);
    lead();
    const age = Math.floor((Date.now() - Date.parse(form.as_of)) / 864e5);
    if (age >= form.stale_after) {
      const note = document.getElementById("stale");
      note.textContent = `These answers are ${age} days old, as of ${form.as_of}. A newer build may know more.`;
      note.hidden = false;
    }
    show();
  };
  globalThis.compatkb = { put, load, answer: (chosen) => answer({ device: fieldOf("device").values[0][0], ...chosen }), parse, write };
  if (document.getElementById("form") || document.readyState === "loading") {
    addEventListener("DOMContentLoaded", () => { if (document.getElementById("form")) start(); });
  }
})();

/* Elements from records. Every string becomes a text node or an attribute, never markup. */

function built(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return node;
}
function h(tag, attributes, ...children) {
  return built(document.createElement(tag), attributes, children);
}
function svg(tag, attributes, ...children) {
  return built(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}
function use(kind, name) {
  return svg("svg", { class: kind, "aria-hidden": "true" }, svg("use", { href: `#${name}` }));
}

function plate(heading, basis, ...content) {
  const header = h("header", {}, h("h2", {}, heading), basis && h("span", { class: "basis" }, basis));
  return h("section", { class: "plate" }, header, content);
}
function empty(text) {
  return h("p", { class: "inside soft" }, text);
}
function head(label, unit, kind) {
  return h("th", { scope: "col", class: kind }, label, unit && h("span", { class: "unit" }, unit));
}
function table(heads, rows, about) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": about },
    h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
}

/* A number as [value, interval, full value], or nothing known. */
function figureCell(figure, kind = "number") {
  if (!figure) return h("td", { class: kind }, h("span", { class: "faint", title: "not known" }, "–"));
  const [value, interval, exact] = figure;
  return h("td", { class: kind }, h("span", { title: exact }, value), interval && h("small", {}, interval));
}
function harnessShape(shape) {
  return use(`harness-shape ${shape}`, `harness-${shape}`);
}
function stackName(run, href) {
  const [model, quantization, harness, version, shape, custom] = run.stack;
  const name = h("bdi", {}, model);
  return h("span", { class: "stack" },
    h("span", { class: "model" }, href ? h("a", { href }, name) : name),
    quantization && h("span", { class: "quantization" }, quantization),
    h("span", { class: "through" }, harnessShape(shape), h("span", {}, `${harness} ${version}`),
      custom && h("span", { class: "custom", title: custom }, "custom"),
      h("span", { class: "wire" }), h("span", { class: "where", title: run.device }, h("bdi", {}, run.device))));
}
function outcome(name, word, count, chip) {
  return h("span", { class: `outcome ${name}${chip ? " chip" : ""}`, title: word },
    use(null, `outcome-${name}`), chip || !count ? word : h("span", { class: "unheard" }, word), count && ` ${count}`);
}

/* A bar from zero to the value with its interval as a whisker; `most` is the end of the scale. */
const BAR = 150;
function bar(measured, most, absence = "not run") {
  if (!measured) return h("span", { class: "mono faint" }, absence);
  const [value, low, high, [text, interval, exact]] = measured;
  const at = (number) => ((Math.min(number, most) / most) * BAR).toFixed(1);
  const whisker = low === null ? null : `M${at(low)} 8H${at(high)}M${at(low)} 4v8M${at(high)} 4v8`;
  return h("span", { class: "score" },
    h("span", { class: "value", title: exact }, text),
    svg("svg", { class: "score-bar", width: BAR, height: 16, viewBox: `0 0 ${BAR} 16`, "aria-hidden": "true" },
      svg("path", { class: "track", d: `M0 8.5H${BAR}` }),
      svg("rect", { class: "length", x: 0, y: 5, width: at(value), height: 6 }),
      whisker && svg("path", { class: "whisker", d: whisker })),
    interval && h("span", { class: "interval" }, interval));
}

/* Elements one by one: `batch` at once, the next ones when the reader comes near or prints.
   `growing` holds, by the part of the page, what draws all the rest. */
const growing = new Map();
function grow(part, items, batch, draw, sentinel) {
  let done = 0;
  let observer = null;
  const end = () => {
    observer?.disconnect();
    growing.delete(part);
  };
  const more = (count) => {
    items.slice(done, done + count).forEach(draw);
    done = Math.min(done + count, items.length);
    sentinel.hidden = done >= items.length;
    if (sentinel.hidden) end();
  };
  growing.set(part, () => more(items.length));
  observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    more(batch);
    /* Observed anew: whoever scrolls fast is still at the end, of which no change would tell. */
    observer.unobserve(sentinel);
    if (done < items.length) observer.observe(sentinel);
  }, { rootMargin: "1200px" });
  more(batch);
  if (done < items.length) observer.observe(sentinel);
  return end;
}

/* A part whose first items are drawn, with a button for all of them. */
function growByButton(part, container, items, batch, draw, label) {
  growing.delete(part);
  items.slice(0, batch).forEach(draw);
  if (items.length <= batch) return;
  const button = h("button", { type: "button", class: "button" }, label);
  const all = () => {
    items.slice(batch).forEach(draw);
    button.remove();
    growing.delete(part);
  };
  button.addEventListener("click", all);
  growing.set(part, all);
  container.append(button);
}
addEventListener("beforeprint", () => [...growing.values()].forEach((all) => all()));

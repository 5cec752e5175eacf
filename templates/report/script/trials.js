/* The trials of a run, those that did not pass first; each is drawn when it is opened. */

const PASSED = "pass";

function drawTrials(run) {
  const suites = new Map();
  run.trials.forEach((trial, number) => {
    suites.set(trial[0], [...(suites.get(trial[0]) ?? []), { trial, texts: run.texts.get(number) ?? [] }]);
  });
  const section = plate("Trials, one by one", "those that did not pass first; open one for its output");
  if (!suites.size) section.append(empty("No task was judged in this run."));
  for (const [suite, own] of suites) {
    const failed = own.filter(({ trial }) => trial[3] !== PASSED);
    const passed = own.filter(({ trial }) => trial[3] === PASSED);
    section.append(h("p", { class: "group", "data-suite": suite }, h("b", {}, suite), ` ${passed.length} of ${own.length} trials passed`));
    section.append(...failed.map(drawTrial));
    if (!passed.length) continue;
    section.append(lazily(h("details", { class: "fold" }, h("summary", {}, `${passed.length} passed`)), () => passed.map(drawTrial)));
  }
  return section;
}

function lazily(details, draw) {
  const open = () => details.append(...[draw()].flat());
  details.addEventListener("toggle", () => details.open && open(), { once: true });
  return details;
}

function drawTrial({ trial, texts }) {
  const [, task, number, kind, word, reason, message, about, latency, times, readings] = trial;
  const why = (reason || message) && h("span", { class: "why" }, h("br"), reason && h("span", { class: "mono" }, reason), reason && message && ": ", message && h("bdi", {}, message));
  const summary = h("summary", {}, h("span", {}, outcome(kind, word, null, true)),
    h("span", {}, h("span", { class: "task" }, task), `, trial ${number} `, h("span", { class: "mono small faint" }, about), why),
    h("span", { class: "mono small faint" }, latency ?? "–"));
  return lazily(h("details", { class: "trial" }, summary), () => h("div", { class: "opened" },
    times && timing(...times),
    h("dl", { class: "readings" }, readings.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    texts.length ? texts.map(passage) : h("p", { class: "passage" }, h("span", { class: "who" }, "model"), h("span", { class: "faint" }, "no output was kept"))));
}

function passage([who, text, mark]) {
  return h("div", { class: `passage${mark ? " thinking" : ""}` }, h("span", { class: "who" }, who), h("pre", { dir: "auto", tabindex: "0" }, text));
}

/* From sent to the last token, over 900 units: the wait, then the generation. */
function timing(first, last) {
  if (last <= 0 || first < 0 || first > last) return null;
  const x = ((first / last) * 900).toFixed(1);
  const late = x > 620;
  const mark = (at, row, anchor, label) => [
    svg("path", { class: "mark", d: `M${at} ${row ? 24 : 6}V38` }),
    svg("text", { x: at, y: row ? 21 : 3, dx: anchor === "end" ? -5 : 5, "dominant-baseline": "hanging", "text-anchor": anchor }, label)];
  return h("div", { class: "clock", tabindex: "0", role: "region", "aria-label": "Timing" },
    svg("svg", { class: "timing", viewBox: "0 0 900 50", role: "img", "aria-label": `first token ${first.toFixed(2)} s, last token ${last.toFixed(2)} s` },
      mark(0, 0, "start", "sent"), mark(x, 1, late ? "end" : "start", `first token ${first.toFixed(2)} s`), mark(900, 0, "end", `last token ${last.toFixed(2)} s`),
      svg("rect", { class: "wait", x: 0, y: 36, width: x, height: 8 }),
      svg("rect", { class: "generation", x, y: 36, width: (900 - x).toFixed(1), height: 8 })));
}

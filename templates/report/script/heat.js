/* The heatmap: stacks by suite. The number stands in every cell; what was not run is no zero. */

const HEAT_ROWS = 24;

function drawHeat(runs) {
  const place = document.getElementById("heat");
  const rows = newestOfEach(runs).filter((run) => Object.keys(run.suites).length);
  const suites = [...new Set(rows.flatMap((run) => Object.keys(run.suites)))].sort();
  if (!rows.length) return place.replaceChildren(empty("No quality suite was run in what is chosen."));
  rows.sort((a, b) => compare(a.quality?.[0] ?? null, b.quality?.[0] ?? null, true));
  const body = h("tbody");
  const heads = suites.map((suite) => h("th", { scope: "col" }, h("span", { class: "harness", title: suite }, h("bdi", {}, suite))));
  const more = h("button", { type: "button", class: "button", hidden: true }, `Show all ${rows.length} stacks`);
  const draw = (run) => body.append(heatRow(run, suites));
  rows.slice(0, HEAT_ROWS).forEach(draw);
  const rest = { all: () => { rows.slice(HEAT_ROWS).forEach(draw); more.hidden = true; growing.delete(rest); } };
  if (rows.length > HEAT_ROWS) {
    more.hidden = false;
    more.addEventListener("click", rest.all);
    growing.add(rest);
  }
  place.replaceChildren(
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores by suite" },
      h("table", { class: "heat-map" }, h("thead", {}, h("tr", {}, h("td", { class: "model" }), heads)), body)),
    more);
}

function heatRow(run, suites) {
  const [model, quantization, harness, , shape] = run.stack;
  return h("tr", {},
    h("th", { class: "model", scope: "row" }, h("a", { href: `#run/${run.id}` }, h("bdi", {}, model)), " ",
      h("span", { class: "quantization" }, quantization), h("span", { class: "of-stack" }, harnessShape(shape), `${harness}, `, h("bdi", {}, run.device), `, ${run.profile}`)),
    suites.map((suite) => {
      const cell = run.suites[suite];
      if (!cell) return h("td", { class: "heat not-run", title: `${suite}: not run` }, h("span", { role: "img", "aria-label": "not run" }, "·"));
      const [step, [value, interval, exact], passed] = cell;
      return h("td", { class: `heat score-${step}`, title: `${suite}: ${exact}, ${passed} passed` },
        h("a", { href: `#run/${run.id}/${encodeURIComponent(suite)}` }, h("span", { class: "figure" }, value), h("small", {}, interval)));
    }));
}

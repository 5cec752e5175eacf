/* The heatmap: stacks by suite. The number stands in every cell; what was not run is no zero. */

const HEAT_ROWS = 24;

function drawHeat(runs) {
  const place = document.getElementById("heat");
  const rows = newestOfEach(runs).filter((run) => Object.keys(run.suites).length);
  const suites = [...new Set(rows.flatMap((run) => Object.keys(run.suites)))].sort();
  if (!rows.length) {
    growing.delete("heat");
    place.replaceChildren(empty("No quality suite was run in what is chosen."));
    return;
  }
  rows.sort((a, b) => compare(a.quality?.[0] ?? null, b.quality?.[0] ?? null, true));
  const body = h("tbody");
  const heads = suites.map((suite) => h("th", { scope: "col" }, h("span", { class: "harness", title: suite }, h("bdi", {}, suite))));
  place.replaceChildren(
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores by suite" },
      h("table", { class: "heat-map" }, h("thead", {}, h("tr", {}, h("td", { class: "model" }), heads)), body)));
  growByButton("heat", place, rows, HEAT_ROWS, (run) => body.append(heatRow(run, suites)), `Show all ${rows.length} stacks`);
}

function heatRow(run, suites) {
  const [model, quantization, harness, , shape] = run.stack;
  return h("tr", {},
    h("th", { class: "model", scope: "row" }, h("a", { href: `#run/${run.id}` }, h("bdi", {}, model)), " ",
      h("span", { class: "quantization" }, quantization), h("span", { class: "of-stack" }, harnessShape(shape), h("span", {}, `${harness}, `, h("bdi", {}, run.device), `, ${run.profile}`))),
    suites.map((suite) => {
      const cell = run.suites[suite];
      if (!cell) return h("td", { class: "heat not-run", title: `${suite}: not run` }, h("span", { role: "img", "aria-label": "not run" }, "·"));
      const [step, [, , , [value, interval, exact]], passed] = cell;
      return h("td", { class: `heat score-${step}`, title: `${suite}: ${exact}, ${passed} passed` },
        h("a", { href: `#run/${run.id}/${encodeURIComponent(suite)}` }, h("span", { class: "figure" }, value), h("small", {}, interval)));
    }));
}

/* One run, drawn when it is opened: the answer, its proof, then every trial. */

function drawRun(run) {
  return [
    h("div", { class: "heading" }, h("p", { class: "crumb" }, h("a", { href: "#" }, "All runs")), h("h1", { tabindex: "-1" }, h("bdi", {}, run.title)),
      h("p", { class: "mono small faint" }, `${run.about.join(", ")}, took ${run.took}, run ${run.id}`)),
    run.notices.length > 0 && h("div", { class: "notices" }, run.notices.map(([kind, text]) => h("p", { class: `notice ${kind}` }, text))),
    h("section", { class: "plate", "aria-label": "Answer" }, h("p", { class: "lede" }, sentence(run.lede)), drawStats(run.stats),
      h("footer", { class: "formula" }, `${run.formula ? `${run.formula}. ` : ""}Scoring ${run.scoring}, intervals are 95 %.`)),
    drawPath(run.path),
    h("div", { class: "beside" },
      h("div", { class: "column" }, drawSuites(run.suites), run.capabilities.length > 0 && readings("Capabilities", run.capabilities, "twice"), drawTrials(run)),
      h("div", { class: "column" }, drawSpeed(run.speed), readings("Settings", run.settings), readings("Machine", run.machine), readings("Provenance", run.provenance),
        plate("Run it yourself", null, h("div", { class: "inside" }, h("div", { class: "command" }, h("code", {}, run.command), h("button", { class: "button", type: "button", "data-copy": run.command, hidden: true }, "Copy")))))),
  ].filter(Boolean);
}

function sentence(spans) {
  return spans.map(([kind, text]) => kind === "strong" ? h("b", {}, h("bdi", {}, text)) : kind === "interval" ? h("span", { class: "interval" }, text) : text);
}

function drawStats(stats) {
  return h("dl", { class: "stats" }, stats.map(([label, figure, unit, basis, absence]) => h("div", {}, h("dt", {}, label),
    figure ? [h("dd", { class: "value", title: figure[2] }, figure[0], unit && h("small", {}, unit)), figure[1] && h("dd", { class: "interval" }, figure[1])]
      : h("dd", { class: "value absent" }, absence),
    basis && h("dd", { class: "ingredients" }, basis))));
}

function drawPath(path) {
  return plate("Signal path", "filled node: where BenchLoop’s clock and counters sit",
    h("ol", { class: "path" }, path.map(([kind, name, lines, isProbe, shape]) => h("li", { class: isProbe && "probe" },
      h("p", { class: "kind" }, kind), h("p", { class: "station" }, shape && [harnessShape(shape), " "], h("bdi", {}, name)), lines.map((line) => h("p", { class: "reading" }, line))))));
}

function drawSuites(suites) {
  if (!suites.length) return plate("Suites", null, empty("No quality suite was run."));
  const isCubed = suites.some(([, , , , , , , [, , cubed]]) => cubed !== "–");
  const rows = suites.map(([suite, version, tasks, each, score, length, outcomes, [diagnostic, finished, cubed, latency], segments]) => h("tr", {},
    h("td", {}, h("b", {}, suite), " ", h("span", { class: "mono small faint" }, version)),
    h("td", { class: "number" }, tasks, each && h("small", {}, each)),
    h("td", { class: "outcomes-cell" },
      svg("svg", { class: "outcome-bar", viewBox: "0 0 300 10", preserveAspectRatio: "none", "aria-hidden": "true" },
        segments.map(([kind, x, width]) => svg("rect", { class: `fill-${kind}`, x, y: 0, width, height: 10 }))),
      h("span", { class: "legend" }, outcomes.map(([kind, word, count]) => outcome(kind, word, count)))),
    h("td", {}, score ? h("span", { class: "score" }, h("span", { class: "value", title: score[2] }, score[0]), scoreBar(length), score[1] && h("span", { class: "interval" }, score[1]))
      : h("span", { class: "mono faint" }, "not run")),
    [diagnostic, finished, ...(isCubed ? [cubed] : []), latency].map((text) => h("td", { class: "number" }, text))));
  return plate("Suites", "the score counts full passes only", table([head("Suite"), head("Tasks", null, "number"), head("Outcomes"), head("Score", "0 to 100, 95 %"),
    head("With partial", "diagnostic", "number"), head("Finished", "no truncated", "number"), isCubed && head("pass^3", "%", "number"), head("Median", "s / trial", "number")], rows, "Suites"));
}

function scoreBar([length, whisker]) {
  return svg("svg", { class: "score-bar", width: 150, height: 16, viewBox: "0 0 150 16", "aria-hidden": "true" },
    svg("path", { class: "track", d: "M0 8.5H150" }), svg("rect", { class: "length", x: 0, y: 5, width: length, height: 6 }), whisker && svg("path", { class: "whisker", d: whisker }));
}

function drawSpeed(speed) {
  if (!speed) return plate("Speed, raw", null, empty("The speed suite was not run."));
  const numbers = (row) => row.map((text) => h("td", { class: "number" }, text));
  const headline = speed.rows.map(([name, unit, figure, ...rest]) => h("tr", {}, h("th", { scope: "row" }, `${name} `, h("span", { class: "mono faint" }, unit)), figureCell(figure), numbers(rest)));
  return plate("Speed, raw", `plan ${speed.plan}`,
    table([head("Headline"), ...["Median", "Mean", "Peak", "s", "n"].map((name) => head(name, null, "number"))], headline, "Speed"),
    speed.shapes.length > 0 && table([head("Shape", "prompt × output"), head("Gen.", "tok/s", "number"), head("Prompt", "tok/s", "number"), head("TTFT", "s", "number"), head("Whole", "s", "number"), head("n", null, "number")],
      speed.shapes.map(([name, ...rest]) => h("tr", {}, h("td", { class: "mono small" }, name), numbers(rest))), "Shapes"),
    speed.loads.map(([title, heads, rows]) => [h("p", { class: "group" }, h("b", {}, title)), table(heads.map(([name, unit]) => head(name, unit, "number")), rows.map((row) => h("tr", {}, numbers(row))), title)]),
    h("footer", {}, `Basis: ${speed.basis}.`, speed.findings.length > 0 && ` Findings: ${speed.findings.join(", ")}.`));
}

function readings(heading, pairs, kind = "") {
  return plate(heading, null, h("div", { class: "inside" }, h("dl", { class: `pairs ${kind}` }, pairs.map(([name, value]) => [h("dt", {}, name), h("dd", {}, h("bdi", {}, value))]))));
}

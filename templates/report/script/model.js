/* One model at a time: its stacks, what a harness changes, and how fast machines run it. */

const modelChoice = document.getElementById("model");
const STACKS_SHOWN = 12;

function offerModels(runs) {
  const counts = new Map();
  for (const run of runs) counts.set(run.stack[0], (counts.get(run.stack[0]) ?? 0) + 1);
  const before = modelChoice.value;
  const names = [...counts.keys()].sort();
  modelChoice.replaceChildren(...names.map((name) => h("option", { value: name }, `${name} (${counts.get(name)})`)));
  const most = names.reduce((best, name) => (counts.get(name) > (counts.get(best) ?? 0) ? name : best), names[0]);
  modelChoice.value = counts.has(before) ? before : most ?? "";
}

function drawModel(runs) {
  document.getElementById("model-name").textContent = modelChoice.value;
  const own = newestOfEach(runs.filter((run) => run.stack[0] === modelChoice.value));
  drawStacks(own);
  drawHarnesses(own);
  drawMachines(own);
}

function drawStacks(own) {
  own.sort((a, b) => compare(a.quality?.[0] ?? null, b.quality?.[0] ?? null, true));
  const row = (run) => h("tr", {},
    h("td", {}, h("a", { href: `#run/${run.id}`, class: "mono" }, run.stack[1] ?? "not stated")),
    harnessCell(run), h("td", {}, h("bdi", {}, run.device)), h("td", { class: "mono small soft" }, run.profile),
    h("td", {}, bar(run.quality, 100, Object.keys(run.suites).length ? "no score over all" : "not run")), figureCell(run.generation?.[3]), figureCell(run.ttft),
    figureCell(run.answers), h("td", { class: "number" }, run.memory ?? "–"), h("td", { class: "number" }, String(run.count)));
  shorten(document.getElementById("stacks"), own, row, [
    head("Quantization"), head("Harness"), head("Device"), head("Profile"), head("Quality", "0 to 100, 95 %"),
    head("Gen.", "tok/s", "number"), head("TTFT", "s", "number"), head("Right answers", "/min", "number"),
    head("Peak memory", "GB", "number"), head("Runs", "newest shown", "number")], "Stacks of the model");
}

/* Only runs of the same profile and tasks, on one device with one quantization, stand together. */
function drawHarnesses(own) {
  const groups = grouped(own.flatMap(scored), ({ run, what }) => [run.stack[1], run.device, run.work, what]);
  const several = groups.filter((group) => new Set(group.map(({ run }) => run.stack.slice(2).join())).size > 1);
  const place = document.getElementById("harnesses");
  if (!several.length) return place.replaceChildren(empty("This model was not run in two harnesses on the same tasks. bench-loop matrix does that, and pairs the tasks."));
  const blocks = several.map((group) => {
    const [{ run, what }] = group;
    group.sort((a, b) => compare(a.score[0], b.score[0], true));
    return [captionRow([h("b", {}, what), ", ", h("span", { class: "mono" }, run.stack[1] ?? "quantization not stated"), ", ", h("bdi", {}, run.device), `, ${run.profile}, the same tasks`], 4),
      ...group.map((one) => h("tr", {}, harnessCell(one.run, `#run/${one.run.id}`), h("td", {}, bar(one.score, 100)), figureCell(one.run.answers), figureCell(one.run.generation?.[3])))];
  });
  shorten(place, blocks, (block) => block, [head("Harness"), head("Score", "0 to 100, 95 %"), head("Right answers", "/min", "number"), head("Gen.", "tok/s", "number")], "Harness comparison", 6);
}

/* The quality of a run, or its suites one by one where it has no score over all. */
function scored(run) {
  if (run.quality) return [{ run, what: "quality", score: run.quality }];
  return Object.entries(run.suites).filter(([, cell]) => cell).map(([suite, cell]) => ({ run, what: suite, score: cell[1] }));
}

function drawMachines(own) {
  const timed = own.filter((run) => run.generation);
  const most = Math.max(...timed.map((run) => run.generation[2] ?? run.generation[0]), 0);
  const place = document.getElementById("machines");
  if (!timed.length) return place.replaceChildren(empty("The speed of this model was not measured in what is chosen."));
  const groups = grouped(timed, (run) => [run.stack[1]]);
  const rows = groups.flatMap((group) => [
    captionRow(h("span", { class: "mono" }, group[0].stack[1] ?? "quantization not stated"), 3),
    ...fastest(group).map((run) => h("tr", {}, h("td", {}, h("a", { href: `#run/${run.id}` }, h("bdi", {}, run.device))), h("td", {}, bar(run.generation, most)), figureCell(run.ttft)))]);
  place.replaceChildren(table([head("Device"), head("Generation", `tok/s, 0 to ${Math.round(most)}`), head("TTFT", "s", "number")], rows, "Machine comparison"));
}

function captionRow(text, columns) {
  return h("tr", { class: "of-group" }, h("th", { colspan: columns, scope: "rowgroup" }, text));
}

/* The newest run on each device, the fastest device first. */
function fastest(runs) {
  const newest = new Map();
  for (const run of runs) if (!(newest.get(run.device)?.at > run.at)) newest.set(run.device, run);
  return [...newest.values()].sort((a, b) => b.generation[0] - a.generation[0]);
}

function grouped(runs, key) {
  const groups = new Map();
  for (const run of runs) {
    const name = JSON.stringify(key(run));
    groups.set(name, [...(groups.get(name) ?? []), run]);
  }
  return [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function harnessCell(run, href) {
  const name = `${run.stack[2]} ${run.stack[3]}`;
  return h("td", {}, h("span", { class: "line harness-line" }, harnessShape(run.stack[4]),
    href ? h("a", { href }, name) : name, run.stack[5] && h("span", { class: "custom", title: run.stack[5] }, "custom")));
}

function shorten(place, items, row, heads, about, count = STACKS_SHOWN) {
  const shown = table(heads, [], about);
  const body = shown.querySelector("tbody");
  place.replaceChildren(shown);
  growByButton(place.id, place, items, count, (item) => body.append(...[row(item)].flat()), `Show all ${items.length}`);
}

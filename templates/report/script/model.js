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
    h("td", {}, bar(run.quality, 100)), figureCell(run.generation?.[3]), figureCell(run.ttft),
    figureCell(run.answers), h("td", { class: "number" }, run.memory ?? "–"), h("td", { class: "number" }, String(run.count)));
  shorten(document.getElementById("stacks"), own, row, [
    head("Quantization"), head("Harness"), head("Device"), head("Profile"), head("Quality", "0 to 100, 95 %"),
    head("Gen.", "tok/s", "number"), head("TTFT", "s", "number"), head("Right answers", "/min", "number"),
    head("Peak memory", "GB", "number"), head("Runs", "newest shown", "number")], "Stacks of the model");
}

/* Only runs of the same profile and tasks, on one device with one quantization, stand together. */
function drawHarnesses(own) {
  const groups = grouped(own.filter((run) => run.quality), (run) => [run.stack[1], run.device, run.work]);
  const several = groups.filter((group) => new Set(group.map((run) => `${run.stack[2]} ${run.stack[3]} ${run.stack[5]}`)).size > 1);
  const place = document.getElementById("harnesses");
  if (!several.length) return place.replaceChildren(empty("This model was not run in two harnesses on the same tasks. bench-loop matrix does that, and pairs the tasks."));
  const rows = several.flatMap((group) => group.map((run, number) => h("tr", { class: number === 0 && "begins" },
    h("td", {}, number === 0 && [h("span", { class: "mono" }, run.stack[1]), " ", h("bdi", { class: "soft" }, run.device), h("span", { class: "mono small faint" }, ` ${run.profile}`)]),
    harnessCell(run, `#run/${run.id}`), h("td", {}, bar(run.quality, 100)), figureCell(run.answers), figureCell(run.generation?.[3]))));
  place.replaceChildren(table([head("Same weights, device, tasks"), head("Harness"), head("Quality", "0 to 100, 95 %"), head("Right answers", "/min", "number"), head("Gen.", "tok/s", "number")], rows, "Harness comparison"));
}

function drawMachines(own) {
  const timed = own.filter((run) => run.generation);
  const most = Math.max(...timed.map((run) => run.generation[2] ?? run.generation[0]), 0);
  const place = document.getElementById("machines");
  if (!timed.length) return place.replaceChildren(empty("The speed of this model was not measured in what is chosen."));
  const groups = grouped(timed, (run) => [run.stack[1]]);
  const rows = groups.flatMap((group) => fastest(group).map((run, number) => h("tr", { class: number === 0 && "begins" },
    h("td", { class: "mono" }, number === 0 && (run.stack[1] ?? "not stated")),
    h("td", {}, h("a", { href: `#run/${run.id}` }, h("bdi", {}, run.device))), h("td", {}, bar(run.generation, most)), figureCell(run.ttft))));
  place.replaceChildren(table([head("Quantization"), head("Device"), head("Generation", `tok/s, 0 to ${Math.round(most)}`), head("TTFT", "s", "number")], rows, "Machine comparison"));
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

function shorten(place, items, row, heads, about) {
  const shown = table(heads, items.slice(0, STACKS_SHOWN).map(row), about);
  place.replaceChildren(shown);
  if (items.length <= STACKS_SHOWN) return;
  const more = h("button", { type: "button", class: "button" }, `Show all ${items.length}`);
  const rest = { all: () => { shown.querySelector("tbody").append(...items.slice(STACKS_SHOWN).map(row)); more.remove(); growing.delete(rest); } };
  more.addEventListener("click", rest.all);
  growing.add(rest);
  place.append(more);
}

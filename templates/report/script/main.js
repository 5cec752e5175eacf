/* Start: unpack the index, then draw what the address names, all runs or one. */

const overview = document.getElementById("overview");
const opened = document.getElementById("opened");
let leftAt = 0;

async function start() {
  if (!filters) return;
  const index = await unpack(document.getElementById("index"));
  index.runs.forEach((run, place) => Object.assign(run, { place, words: searchable(run), isRanked: false }));
  for (const group of index.groups) for (const row of group.rows) index.runs[row[0]].isRanked = Boolean(row[2]);
  const places = new Map(index.runs.map((run) => [run.id, run.place]));

  const redraw = () => {
    const runs = chosenRuns(index.runs);
    document.getElementById("count").textContent = `${runs.length.toLocaleString("en")} of ${index.runs.length.toLocaleString("en")} runs`;
    drawBoard(index, runs);
    document.getElementById("none").hidden = runs.length > 0;
    drawHeat(runs);
    offerModels(runs);
    drawModel(runs);
  };
  makeSortable(() => drawBoard(index, chosenRuns(index.runs)));
  let due = 0;
  filters.addEventListener("input", () => {
    cancelAnimationFrame(due);
    due = requestAnimationFrame(redraw);
  });
  filters.addEventListener("reset", () => requestAnimationFrame(redraw));
  filters.addEventListener("submit", (event) => event.preventDefault());
  modelChoice.addEventListener("change", () => drawModel(chosenRuns(index.runs)));

  const route = async () => {
    const [view, name, suite] = location.hash.slice(1).split("/");
    const place = places.get(view === "run" ? name : view);
    if (place === undefined) return showOverview();
    if (!overview.hidden) leftAt = scrollY;
    opened.replaceChildren(...drawRun(await readRun(place, index.chunk)));
    overview.hidden = true;
    opened.hidden = false;
    showCopying(opened);
    const part = suite && [...opened.querySelectorAll("[data-suite]")].find((one) => one.dataset.suite === decodeURIComponent(suite));
    if (part) part.scrollIntoView();
    else scrollTo(0, 0);
    opened.querySelector("h1").focus({ preventScroll: true });
  };
  const showOverview = () => {
    if (overview.hidden === false) return;
    opened.hidden = true;
    opened.replaceChildren();
    overview.hidden = false;
    scrollTo(0, leftAt);
  };
  filters.hidden = false;
  for (const part of document.querySelectorAll(".needs-script")) part.hidden = false;
  redraw();
  addEventListener("hashchange", route);
  await route();
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  const told = document.getElementById("trouble");
  told.hidden = false;
  told.append(` ${error.message}`);
});

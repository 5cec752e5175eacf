/* What the reader chose to see: filters above the table, which hold for every part below. */

const filters = document.getElementById("filters");

function searchable(run) {
  return [...run.stack, run.device, run.profile, run.id].filter(Boolean).join(" ").toLowerCase();
}

function chosenRuns(runs) {
  const choice = Object.fromEntries(new FormData(filters));
  const words = choice.text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    const [model, quantization, harness] = run.stack;
    const own = { model, quantization, harness, device: run.device, profile: run.profile };
    return Object.entries(own).every(([name, value]) => !choice[name] || choice[name] === value)
      && (!choice.ranked || run.isRanked)
      && words.every((word) => run.words.includes(word));
  });
}

/* The newest run of each stack that did the same work: retries are no second chance. */
function newestOfEach(runs) {
  const newest = new Map();
  for (const run of runs) {
    const key = JSON.stringify([run.stack, run.device, run.work]);
    const known = newest.get(key);
    if (!known) newest.set(key, { ...run, count: 1 });
    else {
      known.count += 1;
      if (run.at > known.at) newest.set(key, { ...run, count: known.count });
    }
  }
  return [...newest.values()];
}

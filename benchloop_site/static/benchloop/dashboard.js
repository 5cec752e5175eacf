"use strict";
/* The static dashboard's only script: sorting, theme, copying. Everything can be read without it. */

function sortBy(table, column, descending) {
  for (const body of table.querySelectorAll("tbody[data-sortable]")) {
    const rows = [...body.querySelectorAll("tr:not(.caption)")];
    const value = (row) => row.querySelectorAll("td[data-sort]")[column].dataset.sort;
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      return descending ? y - x : x - y;
    });
    body.append(...rows);
  }
}

for (const head of document.querySelectorAll(".board th[data-column]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(head.firstChild);
  head.prepend(button);
  button.addEventListener("click", () => {
    const descending = head.getAttribute("aria-sort") !== "descending";
    for (const other of document.querySelectorAll(".board th[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    sortBy(head.closest("table"), Number(head.dataset.column), descending);
  });
}

const themes = document.getElementById("themes");
themes.hidden = false;
themes.addEventListener("click", (event) => {
  const choice = event.target.dataset.themeChoice;
  if (!choice) return;
  document.documentElement.dataset.theme = choice;
  for (const button of themes.children) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  }
});

function openTarget() {
  const run = document.getElementById(location.hash.slice(1));
  if (run instanceof HTMLDetailsElement) run.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    });
  }
}

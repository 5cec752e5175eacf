"use strict";
/* Of every report that is a file: theme, copying, and opening what an address names. */

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
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

/* Where the browser gives no access to the clipboard the button stays hidden. */
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed here";
  }
});
function showCopying(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
}
showCopying(document);

"use strict";
/* Comforts only: every page can be read and used without this file. */

/* Copying. The buttons are hidden until they can work. */
if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
}

/* Filters act at once; without this the Apply button does. */
const rail = document.querySelector(".rail");
if (rail) {
  rail.querySelector("form").addEventListener("change", (event) => {
    if (event.target.type === "checkbox") event.currentTarget.requestSubmit();
  });
}

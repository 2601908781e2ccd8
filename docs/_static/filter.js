// A box above long tables that leaves only the rows with all the words typed into it.
// Sections in which no row is left go, too. `?filter=words` in the address fills the box.
"use strict";

const ROWS_WORTH_A_FILTER = 40;

function addFilter(rows) {
  const heading = document.querySelector("article h1");
  const box = document.createElement("div");
  box.className = "filter";
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Filter the tables, for example: torch.svd";
  input.setAttribute("aria-label", "Filter the tables of this page");
  const count = document.createElement("output");
  box.append(input, count);
  const firstTable = rows[0].closest("section > *");
  const sections = new Set(rows.map((row) => row.closest("section")));
  if (sections.size > 1) heading.after(box);
  else firstTable.before(box);

  const texts = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const full = new Set();
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      if (!row.hidden) {
        shown += 1;
        full.add(row.closest("section"));
      }
    });
    for (const section of sections) {
      const holdsOthers = [...sections].some((other) => other !== section && section.contains(other));
      section.hidden = !full.has(section) && !holdsOthers;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  input.addEventListener("input", apply);
  input.value = new URLSearchParams(location.search).get("filter") ?? "";
  apply();
}

document.addEventListener("DOMContentLoaded", () => {
  const rows = [...document.querySelectorAll("article table tbody tr")];
  if (rows.length > ROWS_WORTH_A_FILTER) addFilter(rows);
});

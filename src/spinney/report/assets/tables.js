// Tables: a click on a heading sorts, a word in the box filters. Print shows all rows again.
function keyOf(row, column) {
  const cell = row.cells[column];
  const key = cell.dataset.key ?? cell.textContent.trim();
  const number = Number(key);
  return key === "" || Number.isNaN(number) ? key : number;
}

function compareKeys(a, b) {
  const aIsNumber = typeof a === "number";
  if (aIsNumber !== (typeof b === "number")) return aIsNumber ? -1 : 1;
  if (aIsNumber) return a - b;
  return a.localeCompare(b);
}

function sortTable(table, heading) {
  const column = heading.cellIndex;
  const current = heading.getAttribute("aria-sort");
  const isNumber = heading.classList.contains("number");
  const next = current ? (current === "ascending" ? "descending" : "ascending")
    : (isNumber ? "descending" : "ascending");
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", next);
  const sign = next === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const keyed = Array.from(body.rows, (row, place) => ({ row, place, key: keyOf(row, column) }));
  keyed.sort((a, b) => sign * compareKeys(a.key, b.key) || a.place - b.place);
  body.append(...keyed.map((entry) => entry.row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const button of table.querySelectorAll("thead button.sort")) {
    button.addEventListener("click", () => sortTable(table, button.closest("th")));
  }
}

for (const block of document.querySelectorAll(".filterable")) {
  const box = block.querySelector("input.filter");
  const told = block.querySelector(".filtered");
  const rows = Array.from(block.querySelector("table").tBodies[0].rows);
  box.addEventListener("input", () => {
    const wanted = box.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const matches = row.textContent.toLowerCase().includes(wanted);
      row.classList.toggle("filtered-out", !matches);
      if (matches) shown += 1;
    }
    told.textContent = wanted ? ` ${shown} of ${rows.length}` : "";
  });
}

"use strict";
// Search and sort for the table of image tags; without script it is a plain table.
addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("tags");
  const find = document.getElementById("find");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, text: row.textContent.toLowerCase(), cells: [...row.cells].map((cell) => cell.textContent) }));
  const count = () => {
    const shown = rows.filter((entry) => !entry.row.hidden).length;
    document.getElementById("found").textContent = `${shown} of ${rows.length} tags`;
  };
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const entry of rows) entry.row.hidden = !words.every((word) => entry.text.includes(word));
    count();
  };
  const order = new Intl.Collator("en", { numeric: true });
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((one, other) => (one.cells[column] === "") - (other.cells[column] === "") || (down ? -1 : 1) * order.compare(one.cells[column], other.cells[column]));
      body.append(...rows.map((entry) => entry.row));
    });
  });
  document.getElementById("finder").hidden = false;
  find.value = new URLSearchParams(location.hash.slice(1)).get("find") || "";
  find.addEventListener("input", () => {
    history.replaceState(null, "", `#${new URLSearchParams({ find: find.value })}`);
    filter();
  });
  filter();
});

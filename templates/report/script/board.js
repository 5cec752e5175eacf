/* The table of all runs: sorted inside its groups, drawn row by row as the reader comes to it. */

const board = document.querySelector("table.board");
const boardMore = document.getElementById("more");
const ROWS_AT_ONCE = 60;
let endBoard = null;
let sorting = null;

function boardRow(row, run, axis, tied) {
  const [, band, overall, plot, , cells, reason] = row;
  const columns = [...board.tHead.rows[0].cells].slice(3, -2);
  return h("tr", { role: "row", class: tied && "tied", "data-run": run.id },
    h("td", { role: "cell", class: "band" }, band),
    h("td", { role: "cell", class: "who" }, stackName(run, `#run/${run.id}`)),
    h("td", { role: "cell", class: "overall" }, overall
      ? h("span", { class: "score" },
        h("span", { class: "value", title: overall[2] }, overall[0], overall[1] && h("small", {}, overall[1])),
        plot && intervalPlot(plot, axis))
      : h("span", { class: "reason" }, `Not ranked. ${reason}`)),
    cells.map((figure, place) => {
      const cell = figureCell(figure, columns[place].className);
      cell.setAttribute("role", "cell");
      cell.setAttribute("data-label", columnLabel(columns[place]));
      return cell;
    }),
    h("td", { role: "cell", class: "profile-cell mono small soft", "data-label": "profile" }, run.profile),
    h("td", { role: "cell", class: "trust-cell", "data-label": "measured" }, h("span", { class: "mono small soft nowrap" }, run.finished)));
}

/* `TTFT s`: a scale of 0 to 100 needs no unit. */
function columnLabel(cell) {
  const name = cell.querySelector("button").textContent;
  const unit = cell.querySelector(".unit")?.textContent ?? "";
  return unit.startsWith("0") ? name : `${name} ${unit}`;
}

function intervalPlot([dot, whisker, leadX, leadWidth], axis) {
  return svg("svg", { class: "interval-plot", width: 150, height: 55, viewBox: "0 0 150 55", preserveAspectRatio: "none", "aria-hidden": "true" },
    leadX && svg("rect", { class: "lead", x: leadX, y: 0, width: leadWidth, height: 55 }),
    axis.map(([x]) => svg("path", { class: "grid", d: `M${x} 0V55` })),
    whisker && svg("path", { class: "whisker", d: whisker }),
    svg("path", { class: "dot", d: dot }));
}

/* What rows are sorted by in each column: name, seven figures, profile, time. */
function sortKey(row, run, column) {
  if (column === 1) return run.stack.slice(0, 3).join(" ").toLowerCase();
  if (column === 9) return run.profile;
  if (column === 10) return run.at;
  return row[4][column - 2];
}

function compare(x, y, descending) {
  if (x === null || y === null) return (x === null) - (y === null);
  const order = x < y ? -1 : x > y ? 1 : 0;
  return descending ? -order : order;
}

function drawBoard(index, runs) {
  if (!board) return;
  const shown = new Set(runs.map((run) => run.place));
  const items = [];
  for (const group of index.groups) {
    const rows = group.rows.filter(([place]) => shown.has(place));
    if (sorting) {
      const key = (row) => sortKey(row, index.runs[row[0]], sorting.column);
      rows.sort((a, b) => compare(key(a), key(b), sorting.descending));
    }
    if (rows.length) items.push({ group });
    for (const row of rows) items.push({ group, row });
  }
  endBoard?.();
  for (const body of [...board.tBodies]) body.remove();
  const draw = ({ group, row }) => {
    if (!row) {
      const caption = h("tr", { class: `caption${group.first ? " first" : ""}`, role: "row" }, h("td", { role: "cell", colspan: 11 }, group.caption));
      board.append(h("tbody", { role: "rowgroup" }, group.caption && caption));
    } else {
      board.tBodies[board.tBodies.length - 1].append(boardRow(row, index.runs[row[0]], index.axis, group.first));
    }
  };
  board.setAttribute("aria-rowcount", runs.length + 1);
  endBoard = grow("board", items, ROWS_AT_ONCE, draw, boardMore);
}

function makeSortable(redraw) {
  if (!board) return;
  [...board.tHead.rows[0].cells].forEach((cell, column) => {
    if (column === 0) return;
    const button = h("button", { type: "button" });
    button.append(cell.firstChild);
    cell.prepend(button);
    button.addEventListener("click", () => {
      const isText = column === 1 || column === 9;
      const first = !isText && column !== 8;
      sorting = { column, descending: sorting?.column === column ? !sorting.descending : first };
      for (const other of board.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", sorting.descending ? "descending" : "ascending");
      redraw();
    });
  });
}

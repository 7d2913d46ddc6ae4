"""The script of a page, which sorts, filters and searches its table. The page's policy lets no other code run.

It reads and moves what is there, and never treats text as markup. Without it, the page is still complete.
"""

from __future__ import annotations

import base64
import hashlib
import re

_SOURCE = """
(() => {
  "use strict";
  const region = document.getElementById("items"), table = region && region.querySelector("table");
  if (!table) return;
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const make = (tag, kind, text) => {
    const made = document.createElement(tag);
    made.className = kind;
    made.textContent = text || "";
    return made;
  };
  const rows = [...body.rows].filter(row => row.id).map(row => {
    const next = row.nextElementSibling, more = next && !next.id ? next : null;
    return {row, more, text: (row.textContent + " " + (more ? more.textContent : "")).toLowerCase()};
  });
  const cell = (item, column) => item.row.cells[column].textContent.trim();
  const isFigure = head => head.classList.contains("n");
  const value = (item, column) => {
    const text = cell(item, column);
    if (isFigure(heads[column])) return text ? Number(text.replaceAll(",", "")) : null;
    return text ? text.replace(/^[A-Z][a-z]{2} (?=\\d{4}-)/, "").toLowerCase() : null;
  };

  const tools = make("div", "tools"), find = make("input", ""), count = make("output", "");
  find.type = "search";
  find.placeholder = "Find in the items";
  find.setAttribute("aria-label", "Find in the items");
  find.setAttribute("aria-controls", "items");
  tools.append(find);

  const filters = [];
  heads.forEach((head, column) => {
    if (isFigure(head) || rows.length < 4) return;
    const counts = new Map();
    for (const item of rows) {
      const text = cell(item, column);
      counts.set(text, (counts.get(text) || 0) + 1);
      if (counts.size > 12) return;
    }
    const isDate = [...counts.keys()].some(text => /^([A-Z][a-z]{2} )?\\d{4}-\\d{2}-\\d{2}/.test(text));
    if (isDate || counts.size < 2 || counts.size > rows.length / 2) return;
    const name = head.textContent, select = make("select", "");
    select.setAttribute("aria-label", "Show one " + name);
    select.add(new Option("any " + name, ""));
    for (const [text, number] of counts)
      if (text) select.add(new Option((text.length > 30 ? text.slice(0, 29) + "\\u2026" : text) + " (" + number + ")", text));
    filters.push({column, select});
    tools.append(select);
  });
  tools.append(count);

  const show = () => {
    const words = find.value.toLowerCase().split(/\\s+/);
    let shown = 0;
    for (const item of rows) {
      const fits = words.every(word => item.text.includes(word)) &&
        filters.every(filter => !filter.select.value || cell(item, filter.column) === filter.select.value);
      item.row.hidden = !fits;
      if (item.more) item.more.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown === rows.length ? "" : shown + " of " + rows.length + " shown";
  };
  find.addEventListener("input", show);
  filters.forEach(filter => filter.select.addEventListener("change", show));
  // A link of the figure leads to its row, even if that is filtered away.
  addEventListener("hashchange", () => {
    const row = document.getElementById(location.hash.slice(1));
    if (!row || !row.hidden) return;
    find.value = "";
    filters.forEach(filter => { filter.select.value = ""; });
    show();
    row.scrollIntoView({block: "center"});
  });

  const sort = (column, descending) => {
    const sign = descending ? -1 : 1;
    const keyed = rows.map((item, place) => ({item, place, key: value(item, column)}));
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
      return a.key < b.key ? -sign : a.key > b.key ? sign : a.place - b.place;
    });
    for (const {item} of keyed) body.append(item.row, ...(item.more ? [item.more] : []));
    heads.forEach(head => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
  };
  heads.forEach((head, column) => {
    const button = make("button", "", head.textContent);
    button.type = "button";
    button.title = "Sort";
    button.addEventListener("click", () => sort(column, head.getAttribute("aria-sort") === "ascending"));
    head.replaceChildren(button);
  });
  if (rows.length > 1) region.before(tools);
})();
"""

SCRIPT = re.sub("\n +", "\n", _SOURCE)  # a page has room for 300 bytes an item, and none for an indent

# The hash in the page's policy: if one byte of the script differs, a browser does not run it.
DIGEST = "sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()

// A page with tables, as far as docs/_static/filter.js looks at it: node filter_page.js filter.js < page.json
// The page is { address, sections: [{ name, inside, rows }], typed }; what is shown after each typing is printed.
"use strict";

const fs = require("node:fs");
const vm = require("node:vm");

const page = JSON.parse(fs.readFileSync(0, "utf-8"));
const placed = [];
const listeners = {};

const sections = new Map();
for (const { name, inside } of page.sections) {
  const section = {
    name,
    hidden: false,
    around: inside ? sections.get(inside) : null,
    contains: (other) => other !== null && (other === section || section.contains(other.around)),
  };
  sections.set(name, section);
}

const rows = page.sections.flatMap(({ name, rows }) =>
  rows.map((text) => ({
    textContent: text,
    hidden: false,
    closest: (selector) =>
      selector === "section" ? sections.get(name) : { before: () => placed.push(`before the table of ${name}`) },
  })),
);

function element() {
  const made = { addEventListener: (event, call) => (made[`on${event}`] = call), setAttribute() {}, append() {} };
  elements.push(made);
  return made;
}
const elements = [];

const context = {
  document: {
    createElement: element,
    querySelector: () => ({ after: () => placed.push("after the heading") }),
    querySelectorAll: () => rows,
    addEventListener: (event, call) => (listeners[event] = call),
  },
  location: { search: page.address },
  URLSearchParams,
};
vm.runInNewContext(fs.readFileSync(process.argv[2], "utf-8"), context);
listeners.DOMContentLoaded();

const input = elements.find((each) => each.type === "search");
const output = elements.find((each) => "textContent" in each);
const seen = () => ({
  rows: rows.filter((row) => !row.hidden).map((row) => row.textContent),
  sections: [...sections.values()].filter((section) => !section.hidden).map((section) => section.name),
  count: output.textContent,
});
const states = input ? [seen()] : [];
for (const words of input ? page.typed : []) {
  input.value = words;
  input.oninput();
  states.push(seen());
}
console.log(JSON.stringify({ placed, states }));

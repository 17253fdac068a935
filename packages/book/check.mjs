#!/usr/bin/env node
// Fails if a link of a built book leads to a file or a heading that the book does not have: `check.mjs BOOK`.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const book = resolve(process.argv[2]);
const pages = new Map();
for (const name of readdirSync(book, { recursive: true })) {
  if (!name.endsWith(".html") || ["404.html", "print.html", "toc.html"].includes(name)) continue;
  pages.set(join(book, name), readFileSync(join(book, name), "utf8"));
}

const ids = new Map([...pages].map(([path, text]) => [path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map((found) => found[1]))]));
let links = 0;
const dead = [];
for (const [path, text] of pages) {
  const main = text.slice(text.indexOf("<main>"), text.indexOf("</main>"));
  for (const [, link] of main.matchAll(/ (?:href|src)="([^"]+)"/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    links += 1;
    const [file, anchor] = decodeURI(link).split("#");
    const target = file ? join(dirname(path), file) : path;
    const found = file ? existsSync(target) : true;
    if (!found || (anchor && ids.has(target) && !ids.get(target).has(anchor))) dead.push(`${path.slice(book.length + 1)}: ${link}`);
  }
}
if (dead.length > 0 || pages.size < 50) {
  console.error(`${dead.join("\n")}\n${dead.length} of ${links} links on ${pages.size} pages lead nowhere`);
  process.exit(1);
}
console.log(`${pages.size} pages, ${links} links`);

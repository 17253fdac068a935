#!/usr/bin/env node
// A preprocessor of mdBook. Links to files outside of docs/ lead to the repository, and links to README.md to the index pages that
// mdBook makes of them.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";

if (process.argv[2] === "supports") process.exit(0);
const [, book] = JSON.parse(readFileSync(0, "utf8"));
const [, repository] = readFileSync(join(import.meta.dirname, "../../Cargo.toml"), "utf8").match(/^repository = "(https:[^"]+)"$/m);

function link(target, page) {
  const path = posix.join("docs", posix.dirname(page), target);
  if (!path.startsWith("docs/")) return `${repository}/blob/main/${path}`;
  return target.replace(/(^|\/)README\.md/, "$1index.md");
}

function rewrite(markdown, page) {
  let fenced = false;
  const lines = markdown.split("\n").map((line) => {
    if (line.trimStart().startsWith("```")) fenced = !fenced;
    return fenced ? line : line.replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, target) => `](${link(target, page)})`);
  });
  return lines.join("\n");
}

function chapters(items) {
  for (const { Chapter } of items.filter((item) => item.Chapter)) {
    // The path of its file: `path` is that of the page, which may be an index.
    Chapter.content = rewrite(Chapter.content, Chapter.source_path);
    chapters(Chapter.sub_items);
  }
}

chapters(book.items);
process.stdout.write(JSON.stringify(book));

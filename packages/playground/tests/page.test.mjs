// The playground in a browser, opened from the disk. PAGE names the file; a picture of it is left beside it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { open } from "./browser.mjs";

const url = pathToFileURL(process.env.PAGE).href;
let page;

async function load(address) {
  await page.call("Page.navigate", { url: "about:blank" });
  await page.call("Page.navigate", { url: address });
  await page.until('document.body?.dataset.ready === "true"');
}

/** The report, as it is shown: the text of the frame, and whether it is styled. */
const shown = () =>
  page.run(`(() => {
    const page = document.getElementById("report").contentDocument;
    return { text: page.body.innerText, timelines: page.querySelectorAll("svg").length,
      isStyled: page.defaultView.getComputedStyle(page.body).margin, scripts: page.scripts.length };
  })()`);

async function checked(work) {
  await page.run('document.getElementById("report").srcdoc = ""');
  await work();
  await page.until('!!document.getElementById("report").contentDocument?.querySelector("footer")');
  return shown();
}

const paste = (text) =>
  page.run(`(() => {
    const area = document.getElementById("stream");
    area.value = ${JSON.stringify(text)};
    area.dispatchEvent(new Event("input"));
    document.getElementById("form").requestSubmit();
  })()`);
const status = () => page.run('document.getElementById("status").textContent');

before(async () => (page = await open()));
after(() => page.close());

test("a stream that is pasted is checked", async () => {
  await load(url);
  const stream = 'event: response.in_progress\ndata: {"type":"response.in_progress","sequence_number":0}\n\n';
  const { text, scripts } = await checked(() => paste(stream));
  assert.match(text, /schema\/event-valid/);
  assert.equal(scripts, 0);
  assert.match(await status(), /^failed · 1 events · \d+ causes?/);
});

test("what is no stream of these APIs has no verdict about clients", async () => {
  const judged = async (text) => {
    await page.run(`document.getElementById("stream").value = ${JSON.stringify(text)}`);
    await page.run('document.getElementById("form").requestSubmit()');
    return [await status(), await page.run('document.getElementById("report").srcdoc')];
  };
  for (const [text, expected] of [
    ["hello", /^could not be read/],
    ['data: {"done":false,"created_at":"2026-08-01T10:00:00Z"}\n\n', /another protocol: Ollama/],
  ]) {
    const [told, report] = await judged(text);
    assert.match(told, expected);
    assert.match(report, /No verdict about clients/);
    assert.doesNotMatch(report, /unaffected/);
  }
});

test("examples show findings and the timeline, with the style of reports", async () => {
  const click = (name) => page.run(`document.querySelector("[data-example=${name}]").click()`);
  const good = await checked(() => click("good"));
  assert.match(await status(), /^passed/);
  assert.ok(good.timelines > 0);
  const broken = await checked(() => click("broken"));
  assert.match(await status(), /^failed/);
  assert.match(broken.text, /part\/before-open/);
  assert.match(broken.text, /openai-python/);
  const { data } = await page.call("Page.captureScreenshot", { captureBeyondViewport: true });
  writeFileSync(process.env.PAGE.replace(".html", ".png"), Buffer.from(data, "base64"));
});

test("the page looks like the report, and leads to the project", async () => {
  const look = (page) => `(({ backgroundColor, color, fontFamily }) => [backgroundColor, color, fontFamily].join())(getComputedStyle(${page}.body))`;
  assert.equal(await page.run(look("document")), await page.run(look('document.getElementById("report").contentDocument')));
  const links = await page.run('[...document.querySelectorAll("nav a")].map((link) => link.href)');
  assert.equal(links.length, 4);
  for (const link of links) assert.match(link, /^https:\/\/github\.com\/[^/]+\/[^/]+(\/blob\/main\/docs\/[\w/-]+\.md)?$/);
  for (const width of [1280, 390]) {
    await page.call("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
    assert.ok((await page.run("document.documentElement.scrollWidth")) <= width, `${width} columns`);
    const { data } = await page.call("Page.captureScreenshot", {});
    writeFileSync(process.env.PAGE.replace(".html", `-${width}.png`), Buffer.from(data, "base64"));
  }
  await page.call("Emulation.clearDeviceMetricsOverride");
});

test("the dialect is a choice, and a link leads to the same stream and dialect", async () => {
  const before = await checked(() =>
    page.run(`(() => {
      const dialect = document.getElementById("dialect");
      dialect.value = "open-responses";
      dialect.dispatchEvent(new Event("change"));
    })()`),
  );
  await page.run('document.getElementById("share").click()');
  await page.until('location.hash.startsWith("#dialect=open-responses&stream=")');
  const link = await page.run("location.href");
  const after = await checked(() => load(link));
  assert.equal(await page.run('document.getElementById("dialect").value'), "open-responses");
  assert.equal(after.text, before.text);
  await load(`${url}#dialect=openai&stream=x`);
  assert.match(await status(), /damaged/);
});

test("a file that is dropped is checked, in whatever format", async () => {
  const body = 'HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\n\\r\\ndata: {"type":"response.created"}\\n\\n';
  const { text } = await checked(() =>
    page.run(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([\`${body}\`], "mine.http"));
      document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true, bubbles: true }));
    })()`),
  );
  assert.match(text, /mine\.http/);
});

test("what a hostile stream says stays text", async () => {
  const type = "</textarea><img src=x onerror=document.title=1><script>document.title=1</script>";
  const { scripts } = await checked(() => paste(`data: ${JSON.stringify({ type, sequence_number: 0 })}\n\n`));
  assert.equal(scripts, 0);
  assert.match(await page.run("document.title"), /playground/);
});

test("nothing is asked of anybody, and nothing goes wrong", () => {
  assert.deepEqual(page.requests.filter((asked) => !/^(file|about|blob|data):/.test(asked)), []);
  assert.deepEqual(page.problems, []);
});

// The page: takes a stream, has it checked, and shows the report. It asks nobody for anything.

const $ = (id) => document.getElementById(id);
/** A link with more than this is cut off by some programs. */
const LONGEST_LINK = 100_000;

let recording = { name: "stream", bytes: null };

/** What can be chosen as the dialect. */
const names = () => ["auto", ...dialects()];

async function through(bytes, transform) {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

function toBase64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function show() {
  const { name } = recording;
  const bytes = recording.bytes ?? new TextEncoder().encode($("stream").value);
  if (bytes.length === 0) {
    $("status").textContent = "There is nothing to check yet.";
    $("report").hidden = true;
    return;
  }
  const options = { dialect: $("dialect").value, name };
  const began = performance.now();
  const report = check(bytes, options);
  const [capture] = report.captures;
  const apis = Object.keys({ ...capture.foreign, ...capture.other_apis });
  const count = report.causes.filter((cause) => !cause.follows_from).length;
  const unread = capture.error && capture.streams + capture.bodies === 0;
  const parts = [
    unread ? "could not be read" : report.outcome,
    ...(apis.length > 0 ? [`another protocol: ${apis.join(", ")}`] : []),
    ...(unread ? [] : [`${capture.events} events`, `${count} ${count === 1 ? "cause" : "causes"}`]),
    `${Math.round(performance.now() - began)} ms`,
  ];
  if (capture.error) parts.push(capture.error);
  $("status").textContent = parts.join(" · ");
  // No script runs in the frame: the search of the report stays hidden without its own.
  $("report").srcdoc = checkAsHtml(bytes, options).replace(/<script\b[^]*<\/script>/, "");
  $("report").hidden = false;
}

$("report").addEventListener("load", () => {
  const page = $("report").contentDocument?.documentElement;
  // As high as the report, which may be less than the one before.
  $("report").style.height = "0";
  if (page) $("report").style.height = `${page.scrollHeight + 20}px`;
});

async function take(file) {
  recording = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
  const shown = new TextDecoder().decode(recording.bytes.subarray(0, 1_000_000));
  $("stream").value = shown;
  show();
}

/** The link to what is shown. Everything is in its fragment, which browsers do not send. */
async function link() {
  const bytes = recording.bytes ?? new TextEncoder().encode($("stream").value);
  const packed = toBase64(await through(bytes, new CompressionStream("gzip")));
  const fragment = new URLSearchParams({ dialect: $("dialect").value, stream: packed });
  return `${location.href.split("#")[0]}#${fragment}`;
}

async function follow() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const dialect = fragment.get("dialect");
  if (dialect && names().includes(dialect)) $("dialect").value = dialect;
  const packed = fragment.get("stream");
  if (!packed) return;
  try {
    const bytes = await through(fromBase64(packed), new DecompressionStream("gzip"));
    recording = { name: "stream", bytes: null };
    $("stream").value = new TextDecoder().decode(bytes);
    show();
  } catch {
    $("status").textContent = "The link is damaged: its stream cannot be read.";
  }
}

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});
$("stream").addEventListener("input", () => (recording = { name: "stream", bytes: null }));
$("dialect").addEventListener("change", show);
$("file").addEventListener("change", () => $("file").files[0] && take($("file").files[0]));
$("share").addEventListener("click", async () => {
  const address = await link();
  if (address.length > LONGEST_LINK) {
    $("status").textContent = "The stream is too long for a link.";
    return;
  }
  history.replaceState(null, "", address);
  await navigator.clipboard?.writeText(address).catch(() => {});
  $("status").textContent = "The address of this page is now a link to this stream.";
});
for (const button of document.querySelectorAll("[data-example]")) {
  button.addEventListener("click", () => {
    recording = { name: "stream", bytes: null };
    $("stream").value = EXAMPLES[button.dataset.example];
    $("dialect").value = "auto";
    show();
  });
}
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    document.body.classList.toggle("over", type === "dragover");
    if (type === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
}
addEventListener("hashchange", follow);

use((await WebAssembly.instantiate(await through(fromBase64(MODULE), new DecompressionStream("gzip")))).instance);
for (const name of names()) $("dialect").append(new Option(name, name, name === "auto", name === "auto"));
await follow();
document.body.dataset.ready = "true";

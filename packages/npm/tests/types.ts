// The types fit what a caller in TypeScript writes.
import { Checker, CheckerStream, assertConformant, check, type Finding } from "responses-conformance";

const found: Finding[] = new Checker("openai").push(new Uint8Array());
const rule: string | undefined = found[0]?.rule;
const stream = new CheckerStream("openai", (finding) => console.log(finding.message, finding.clients.length));
const passed: ReadableStream<Uint8Array> = new Response("").body!.pipeThrough(stream);
const rest: Promise<Finding[]> = assertConformant(new Response(passed), { failOn: "should", ignore: ["a/b"] });
const apis: string[] | undefined = check("", { dialect: "gemini" }).captures[0]?.dialects?.map(({ api }) => api);
const outcome: "passed" | "failed" | "incomplete" = check("").outcome;
// @ts-expect-error: a number is not a chunk.
new Checker().push(1);
export { apis, outcome, rest, rule };

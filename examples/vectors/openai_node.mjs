// Plays the vectors of the Responses API to openai-node: npm install openai && node openai_node.mjs responses.json
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import OpenAI from "openai";

const { vectors } = JSON.parse(readFileSync(process.argv[2]));
let playing;
const server = createServer((request, reply) => {
  request.resume();
  const { status, headers, body, body_base64, breaks_off } = playing.response;
  reply.writeHead(status, headers.flat());
  reply.write(body ?? Buffer.from(body_base64, "base64"), () => (breaks_off ? reply.destroy() : reply.end()));
});
await new Promise((started) => server.listen(0, "127.0.0.1", started));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, timeout: 2000 });

const failed = [];
for (playing of vectors) {
  const { contents, request, response } = playing;
  let text;
  try {
    const isStream = response.headers.some(([name, value]) => name === "content-type" && value.includes("event-stream"));
    const answer = isStream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    if (!["completed", "incomplete"].includes(answer.status)) throw new Error(answer.status);
    text = answer.output_text;
  } catch (error) {
    if (playing.client === "must-survive") failed.push([playing.id, `failed: ${error.message}`]);
    continue;
  }
  if (playing.client === "must-report") failed.push([playing.id, "reported no error"]);
  else if (contents && !contents.some((content) => content.text === text)) failed.push([playing.id, `returned ${JSON.stringify(text)}`]);
}
for (const [id, problem] of failed) console.log(id, problem);
console.log(`${vectors.length - failed.length} of ${vectors.length} vectors passed`);
server.close();

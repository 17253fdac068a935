// Tests of a gateway, with vitest. GATEWAY is its base URL, for example http://localhost:8080/v1.
import { assertConformant } from "responses-conformance";
import { expect, test } from "vitest";

const url = `${process.env.GATEWAY}/responses`;
const headers = { "content-type": "application/json" };
const request = { model: "my-model", input: "Say hello." };

test("a stream keeps the rules", async () => {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ ...request, stream: true }) });
  expect(await assertConformant(response)).toEqual([]);
});

test("a response that is no stream does, too", async () => {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(request) });
  expect(await assertConformant(response)).toEqual([]);
});

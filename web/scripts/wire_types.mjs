// SPDX-License-Identifier: Apache-2.0
// Writes src/api/wire.ts, the types of what the API answers, from src/api/openapi.json, which
// `./dev docs` writes from the server's own table. With --check it says whether they differ.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import { format, resolveConfig } from "prettier";

const api = new URL("../src/api/", import.meta.url);
const output = new URL("wire.ts", api);
const API = "/api/v1";

const document = JSON.parse(await readFile(new URL("openapi.json", api), "utf8"));
// Pages name schemas, and paths by what they answer.
const nodes = await openapiTS(
  { ...document, paths: {}, components: { schemas: document.components.schemas } },
  { arrayLength: true },
);

// Of every path that can be read: `"/sessions/{}/kernels": KernelList`. Files are unknown.
function answersOf(paths) {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (!get) return [];
    const schema = get.responses["200"]?.content?.["application/json"]?.schema.$ref;
    const type = schema ? `components["schemas"]["${schema.split("/").at(-1)}"]` : "unknown";
    return [`${JSON.stringify(path.replace(API, "").replace(/\{\w+\}/g, "{}"))}: ${type};`];
  });
}

const text = `// SPDX-License-Identifier: Apache-2.0
// Made by scripts/wire_types.mjs from openapi.json: change src/server/schemas and run ./dev docs.
${astToString(nodes.filter((node) => node.name?.text === "components"))}
// What a GET answers; {} stands for an id.
export interface Answers {
${answersOf(document.paths).join("\n")}
}
`;
const made = await format(text, { ...(await resolveConfig(output)), parser: "typescript" });

if (!process.argv.includes("--check")) {
  await writeFile(output, made);
} else if ((await readFile(output, "utf8").catch(() => "")) !== made) {
  console.error("src/api/wire.ts is not what openapi.json says: run ./dev docs");
  process.exit(1);
}

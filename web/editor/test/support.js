// Texts with a cursor, and the trees that the editor would have of them.

import { parser as jsonParser } from "@lezer/json";
import { parser as yamlParser } from "@lezer/yaml";
import { Text } from "@codemirror/state";

export const parseYaml = (text) => yamlParser.parse(text);
export const parseJson = (text) => jsonParser.parse(text);
export const doc = (text) => Text.of(text.split("\n"));
export const reading = (text) => (from, to) => text.slice(from, to);

/** A text with `|` where the cursor is: `{ text, position }`. */
export function cursor(marked) {
  const position = marked.indexOf("|");
  return { text: marked.slice(0, position) + marked.slice(position + 1), position };
}

/** A schema as the server makes them: references, a union of names, a union of shapes, closed objects. */
export const SCHEMA = {
  type: "object",
  title: "Playbook",
  additionalProperties: false,
  required: ["name", "tools"],
  properties: {
    name: { type: "string", description: "Name of the folder." },
    agent: { $ref: "#/$defs/AgentStyle", default: "react" },
    strict: { type: "boolean", default: false },
    limits: { $ref: "#/$defs/Limits", description: "Where it stops." },
    tools: { type: "array", items: { $ref: "#/$defs/Tool" } },
    after: { anyOf: [{ $ref: "#/$defs/After" }, { type: "null" }], description: "What comes after." },
    worlds: { type: "object", additionalProperties: { $ref: "#/$defs/Limits" } },
    tags: { type: "array", items: { enum: ["fee", "card", "12"] } },
  },
  $defs: {
    AgentStyle: {
      oneOf: [
        { type: "string", const: "function_calling", description: "The endpoint's own calls." },
        { type: "string", const: "react", description: "Thought and Action as text." },
      ],
      description: "How the agent calls tools.",
    },
    Limits: {
      type: "object",
      additionalProperties: false,
      properties: { turns: { type: "integer", default: 12 }, depth: { type: "integer" } },
    },
    After: { type: "object", properties: { call: { type: "string" } }, additionalProperties: false },
    Tool: {
      oneOf: [
        {
          type: "object",
          additionalProperties: false,
          properties: { kind: { const: "code" }, function: { type: "string" }, then: { $ref: "#/$defs/Tool" } },
        },
        {
          type: "object",
          additionalProperties: false,
          properties: { kind: { const: "constant" }, answer: { type: "object" }, headers: { type: ["array", "null"] } },
        },
      ],
    },
  },
};

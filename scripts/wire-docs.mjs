#!/usr/bin/env node
/**
 * `npm run docs:wire [-- --check]`: writes WIRE_PROTOCOL.md and docs/wire.schema.json from what is registered: methods,
 * roles, schemas, events, error codes. With `--check` it writes nothing and ends with 1 when they are stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const parts = await bundle(
  {
    wire: 'src/protocol/wire.ts',
    methods: 'src/protocol/wire-methods.ts',
    results: 'src/protocol/wire-results.ts',
    errors: 'src/protocol/wire-errors.ts',
    shapes: 'src/protocol/shapes.ts',
    events: 'src/events/index.ts',
    limits: 'src/ipc/limits.ts',
  },
  { logLevel: 'error' },
);
const wire = Object.assign({}, ...Object.values(parts));
const { METHOD_INFO, methodParams, methodResults, WIRE_ERRORS, EVENT_TYPES, IPC_LIMITS, RPC } =
  wire;

const schemaOf = (schema, io) => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
};

/** A schema in one line, as people read it: `{run?: string, limit?: integer}`. */
function short(schema, depth = 0) {
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' \\| ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map((one) => short(one, depth)).join(' \\| ');
  if (schema.type === 'array') return `[${short(schema.items ?? {}, depth)}]`;
  if (schema.type === 'object' && schema.properties) {
    if (depth > 1) return 'object';
    const required = new Set(schema.required ?? []);
    const fields = Object.entries(schema.properties).map(
      ([name, of]) => `${name}${required.has(name) ? '' : '?'}: ${short(of, depth + 1)}`,
    );
    return fields.length === 0 ? '{}' : `{${fields.join(', ')}}`;
  }
  return schema.type ?? 'any';
}

const names = Object.keys(METHOD_INFO).toSorted();
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'The wire of Troupe',
  description: 'Made by `npm run docs:wire`; not to be edited.',
  protocol: wire.PROTOCOL_VERSION,
  methods: Object.fromEntries(
    names.map((name) => [
      name,
      {
        ...METHOD_INFO[name],
        params: schemaOf(methodParams[name], 'input'),
        result: schemaOf(methodResults[name], 'output'),
      },
    ]),
  ),
  event: schemaOf(wire.eventSchema, 'output'),
  eventTypes: Object.keys(EVENT_TYPES),
};

const row = (...cells) => `| ${cells.join(' | ')} |`;
const table = (heads, rows) => [
  row(...heads),
  row(...heads.map(() => '---')),
  ...rows.map((one) => row(...one)),
];

const lines = [
  '# The wire of Troupe',
  '',
  '<!-- Made by `npm run docs:wire` from the registered methods, events and error codes; not to be edited. -->',
  '',
  `Protocol ${wire.PROTOCOL_VERSION}. JSON-RPC 2.0, one message a line (LF, UTF-8), on the Unix socket or the loopback address that \`supervisor.json\` names.`,
  'How to use it: [docs/wire.md](docs/wire.md). The same as JSON Schema: [docs/wire.schema.json](docs/wire.schema.json).',
  '',
  '## Methods',
  '',
  'Roles: P person, V viewer, A the token of an actor (about its own run, and where marked * about itself alone).',
  'A method that changes nothing may be repeated, and is given up by `$/cancel`.',
  '',
  ...table(
    ['method', 'roles', 'changes', 'what it does'],
    names.map((name) => {
      const { roles, effect, about, bound } = METHOD_INFO[name];
      const own = bound === 'actor' || bound === 'actors' ? 'A*' : 'A';
      const letters = roles.map((role) => ({ person: 'P', viewer: 'V', actor: own })[role]);
      return [`\`${name}\``, letters.join(' '), effect === 'change' ? 'yes' : '', about];
    }),
  ),
  '',
  '### Parameters and results',
  '',
  'Parameters are strict: an unknown one is an error. Results may get further fields. `?` marks what may be left out.',
  '',
  ...names.flatMap((name) => [
    `**\`${name}\`**`,
    `: \`${short(schema.methods[name].params).replaceAll('\\|', '|')}\` → \`${short(schema.methods[name].result).replaceAll('\\|', '|')}\``,
    '',
  ]),
  '## Notifications',
  '',
  '- From a client: `$/cancel` `{id}`: nobody waits for the answer to this request any more.',
  '- From the supervisor: `event` `{subscription, event}`.',
  '',
  '## Events',
  '',
  `\`${short(schema.event).replaceAll('\\|', '|')}\``,
  '',
  ...table(
    ['type', 'durable', 'what happened'],
    Object.entries(EVENT_TYPES).map(([type, { durable, about }]) => [
      `\`${type}\``,
      durable ? 'yes' : 'live only',
      about,
    ]),
  ),
  '',
  '## Errors',
  '',
  ...table(
    ['JSON-RPC code', 'name'],
    Object.entries(RPC).map(([name, code]) => [String(code), name]),
  ),
  '',
  'An operating failure has code -32000; branch on `data.code`:',
  '',
  ...table(
    ['`data.code`', 'what it means'],
    Object.entries(WIRE_ERRORS).map(([code, about]) => [`\`${code}\``, about]),
  ),
  '',
  '## Bounds',
  '',
  ...table(
    ['bound', 'value'],
    Object.entries(IPC_LIMITS).map(([name, value]) => [
      `\`${name}\``,
      value.toLocaleString('en-US'),
    ]),
  ),
  '',
];

const files = {
  'WIRE_PROTOCOL.md': lines.join('\n'),
  'docs/wire.schema.json': `${JSON.stringify(schema, null, 2)}\n`,
};
const isCheck = process.argv.includes('--check');
for (const [name, text] of Object.entries(files)) {
  const path = join(root, name);
  const now = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (now === text) continue;
  if (isCheck) {
    console.error(`${name} is stale: npm run docs:wire`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
    console.log(`wrote ${name}`);
  }
}

import { expect, test } from 'vitest';
import {
  BUILT_IN_PROFILES,
  formatProblem,
  type ParseTeamOptions,
  parseDuration,
  parseTeam,
  teamJsonSchema,
  teamTemplate,
} from '../../../src/config/index.ts';
import type { Team } from '../../../src/protocol/team.ts';
import { validateTasks } from '../../../src/tasks/index.ts';

const checkTasks = validateTasks;

function parsed(text: string, options: Partial<ParseTeamOptions> = {}): Team {
  const result = parseTeam(text, { checkTasks, ...options });
  if (result.kind === 'ok') return result.team;
  throw new Error(result.problems.map((problem) => formatProblem('team.yaml', problem)).join('\n'));
}

test('a team file of a few lines gets every default', () => {
  const { agents, ...team } = parsed(
    'version: 1\nname: t\ntasks:\n  - {id: a, prompt: do it}\n  - {id: b, run: "true", needs: [a]}\n',
  );
  expect(Object.keys(agents)).toEqual(Object.keys(BUILT_IN_PROFILES));
  expect(team).toMatchInlineSnapshot(`
    {
      "base": "HEAD",
      "budget": {
        "tokens": null,
        "usd": null,
        "wallMs": null,
      },
      "finish": {
        "verify": [],
      },
      "goal": null,
      "lead": null,
      "limits": {
        "depth": 2,
        "fanout": 4,
        "parallel": 4,
        "turns": 60,
      },
      "merge": {
        "style": "merge",
        "touches": "warn",
        "verify": [],
      },
      "model": null,
      "name": "t",
      "permissions": {
        "default": "ask",
        "rules": [],
        "unstated": true,
      },
      "sandbox": {
        "mode": "auto",
        "read": [],
        "write": [],
      },
      "tasks": [
        {
          "agent": null,
          "attempts": 2,
          "id": "a",
          "needs": [],
          "prompt": "do it",
          "run": null,
          "timeoutMs": 1800000,
          "title": "a",
          "touches": [],
          "verify": [],
        },
        {
          "agent": null,
          "attempts": 2,
          "id": "b",
          "needs": [
            "a",
          ],
          "prompt": null,
          "run": "true",
          "timeoutMs": 1800000,
          "title": "b",
          "touches": [],
          "verify": [],
        },
      ],
      "teammates": [],
      "version": 1,
      "worktree": {
        "copy": [],
        "link": [],
        "root": null,
        "setup": [],
      },
    }
  `);
});

test('every part of the format is taken over', () => {
  const team = parsed(`
version: 1
name: quickstart
goal: Make the failing tests pass.
model: anthropic/claude-sonnet-5-5
budget: { usd: 2, tokens: 500000, wall: 1h30m }
limits: { parallel: 2, turns: 9, depth: 0, fanout: 1 }
base: origin/main
worktree: { setup: [npm ci], copy: [.env], link: [node_modules], sparse: [], root: null }
agents:
  implementer: { model: openai/x, plan: optional, restart: temporary }
  writer: { description: Writes, prompt: Write., tools: [read_file], skills: [] }
members:
  lead: { name: lead, agent: writer }
  teammates: [{ name: ada, agent: writer }, { name: bo }]
tasks:
  - id: parser
    title: Fix the parser
    prompt: Fix it.
    agent: writer
    touches: [src/parser/**]
    verify: [npm test, { run: npm run lint, retries: 2, timeout: 90s }]
    attempts: 3
    timeout: 500ms
    plan: optional
merge: { style: squash, verify: [make], touches: refuse }
finish: { verify: [npm test] }
permissions:
  default: deny
  rules: [{ id: test, effect: allow, tool: bash, reason: tests only }]
mcp: null
`);
  expect(team.agents['implementer']).toEqual({
    ...BUILT_IN_PROFILES['implementer'],
    model: 'openai/x',
    restart: 'temporary',
    plan: 'optional',
  });
  expect(team.agents['writer']?.tools).toEqual(['read_file']);
  const { agents: _, ...rest } = team;
  expect(rest).toMatchInlineSnapshot(`
    {
      "base": "origin/main",
      "budget": {
        "tokens": 500000,
        "usd": 2,
        "wallMs": 5400000,
      },
      "finish": {
        "verify": [
          {
            "kind": "command",
            "retries": 0,
            "run": "npm test",
            "timeoutMs": 600000,
          },
        ],
      },
      "goal": "Make the failing tests pass.",
      "lead": {
        "agent": "writer",
        "name": "lead",
      },
      "limits": {
        "depth": 0,
        "fanout": 1,
        "parallel": 2,
        "turns": 9,
      },
      "merge": {
        "style": "squash",
        "touches": "refuse",
        "verify": [
          {
            "kind": "command",
            "retries": 0,
            "run": "make",
            "timeoutMs": 600000,
          },
        ],
      },
      "model": "anthropic/claude-sonnet-5-5",
      "name": "quickstart",
      "permissions": {
        "default": "deny",
        "lines": {
          "test": 30,
        },
        "rules": [
          {
            "effect": "allow",
            "id": "test",
            "reason": "tests only",
            "tool": "bash",
          },
        ],
      },
      "sandbox": {
        "mode": "auto",
        "read": [],
        "write": [],
      },
      "tasks": [
        {
          "agent": "writer",
          "attempts": 3,
          "id": "parser",
          "needs": [],
          "plan": "optional",
          "prompt": "Fix it.",
          "run": null,
          "timeoutMs": 500,
          "title": "Fix the parser",
          "touches": [
            "src/parser/**",
          ],
          "verify": [
            {
              "kind": "command",
              "retries": 0,
              "run": "npm test",
              "timeoutMs": 600000,
            },
            {
              "kind": "command",
              "retries": 2,
              "run": "npm run lint",
              "timeoutMs": 90000,
            },
          ],
        },
      ],
      "teammates": [
        {
          "agent": "writer",
          "name": "ada",
        },
        {
          "agent": "implementer",
          "name": "bo",
        },
      ],
      "version": 1,
      "worktree": {
        "copy": [
          ".env",
        ],
        "link": [
          "node_modules",
        ],
        "root": null,
        "setup": [
          "npm ci",
        ],
      },
    }
  `);
});

test('with only a goal there is a lead; with tasks there is one when the file names it', () => {
  expect(parsed('version: 1\nname: t\ngoal: x\n').lead).toEqual({ name: 'lead', agent: 'lead' });
  const tasks = 'tasks: [{id: a, run: "true"}]\n';
  expect(parsed(`version: 1\nname: t\ngoal: x\n${tasks}`).lead).toBeNull();
  expect(parsed(`version: 1\nname: t\nmembers: {lead: {}}\n${tasks}`).lead).toEqual({
    name: 'lead',
    agent: 'lead',
  });
});

test('the config says what the file does not, profiles from files go before built-in ones', () => {
  const own = { ...BUILT_IN_PROFILES['explorer']!, name: 'scout', prompt: 'Look.' };
  const defaults = {
    model: 'openai/y',
    limits: { parallel: 8, turns: 5, depth: 1, fanout: 2 },
    treesRoot: '/trees',
  };
  const team = parsed('version: 1\nname: t\ngoal: x\nlimits: {turns: 7}\n', {
    defaults,
    profiles: { scout: own },
  });
  expect(team.model).toBe('openai/y');
  expect(team.limits).toEqual({ parallel: 8, turns: 7, depth: 1, fanout: 2 });
  expect(team.worktree.root).toBe('/trees');
  expect(team.agents['scout']).toBe(own);
});

test('models are returned with their places, warnings do not refuse a file', () => {
  const text = `version: 1
name: t
model: scripted/play.yaml
agents:
  writer: { prompt: x, model: scripted/writer.yaml }
tasks: [{ id: a, run: "true", agent: writer }]
`;
  const result = parseTeam(text, { checkTasks });
  if (result.kind !== 'ok') throw new Error('refused');
  expect(result.models).toEqual([
    { model: 'scripted/play.yaml', path: 'model', line: 3, column: 8 },
    { model: 'scripted/writer.yaml', path: 'agents.writer.model', line: 5, column: 31 },
  ]);
  expect(result.warnings.map((one) => formatProblem('t.yaml', one))).toEqual([
    't.yaml:6:31: tasks[0].agent: has no effect: a command task needs no agent',
  ]);
});

test('F2: problems inside an alias point at its anchor, and a byte order mark is no problem', () => {
  const text = '\uFEFFversion: 1\nname: t\ntasks:\n  - &a {id: a, run: 1}\n  - *a\n';
  const result = parseTeam(text, { checkTasks });
  const lines = result.kind === 'ok' ? [] : result.problems.map((one) => [one.path, one.line]);
  expect(lines).toEqual([
    ['tasks[0].run', 4],
    ['tasks[1].run', 4],
  ]);
});

test.each([
  ['deep flow', `version: 1\nname: ${'['.repeat(50_000)}`],
  ['deep blocks', `version: 1\nname:\n${'- '.repeat(50_000)}x`],
  ['deep keys', `version: 1\nname:\n${'? '.repeat(50_000)}x`],
  ['a large file', `version: 1\nname: t\ngoal: ${'x'.repeat(1024 * 1024)}`],
  [
    'many problems',
    `version: 1\nname: t\n${Array.from({ length: 20_000 }, (_, n) => `k${n}: 1`).join('\n')}`,
  ],
])('F1: %s is refused, not a crash', (_, text) => {
  const result = parseTeam(text, { checkTasks });
  expect(result.kind).toBe('problems');
  if (result.kind === 'problems') expect(result.problems.length).toBeLessThanOrEqual(100);
});

test('durations are read in milliseconds', () => {
  expect(['500ms', '90s', '30m', '1h', '1h30m', '1.5h', '2d'].map(parseDuration)).toEqual([
    500, 90_000, 1_800_000, 3_600_000, 5_400_000, 5_400_000, 172_800_000,
  ]);
  expect(['', '30', 'm', '-1s', '1 h', '0s', '25d', '1w'].map(parseDuration)).toEqual(
    Array.from({ length: 8 }, () => null),
  );
});

test('the template is a team file that works', () => {
  const team = parsed(teamTemplate('demo'));
  expect(team.name).toBe('demo');
  expect(team.tasks.map((task) => task.id)).toEqual(['whitespace', 'conflicts', 'overview']);
  // Nobody needs a key for it.
  expect(team.tasks.every((task) => task.run !== null)).toBe(true);
  expect([team.lead, team.teammates, team.model]).toEqual([null, [], null]);
});

test('the template with all that it offers switched on is a team file, too', () => {
  const team = parsed(teamTemplate('demo').replaceAll(/^#(?=\S| {2})/gm, ''));
  expect(team.tasks.map((task) => task.id)).toEqual([
    'whitespace',
    'conflicts',
    'overview',
    'fix',
    'document',
  ]);
  expect(team.lead?.name).toBe('lead');
  expect(team.teammates.map((member) => member.name)).toEqual(['ada', 'bo']);
  expect(Object.keys(team.agents)).toContain('writer');
});

test('F3: the JSON Schema refuses unknown keys and knows the format', () => {
  const schema = teamJsonSchema();
  expect(schema).toMatchObject({
    title: 'Troupe team file',
    type: 'object',
    required: ['version', 'name'],
    additionalProperties: false,
  });
  expect(JSON.stringify(schema)).toContain('"touches"');
});

test('built-in profiles say how work is finished', () => {
  for (const profile of Object.values(BUILT_IN_PROFILES)) {
    expect(profile.prompt.length).toBeGreaterThan(300);
    expect(profile.prompt.length).toBeLessThan(4_000);
    if (profile.name !== 'lead') expect(profile.prompt).toContain('complete_task');
  }
});

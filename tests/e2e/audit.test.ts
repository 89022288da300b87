/** The audit of a run, and what `troupe audit verify` finds when somebody who can write the files changes them. */
import { cpSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crc32, crcText } from '../../src/journal/crc32.ts';
import { makeWorld, type World } from './cli-world.ts';

let world: World;
const state = (...path: string[]): string => join(world.repo, '.git', 'troupe', ...path);
const journal = (): string => state('runs', 'r1', 'journal', '000000000001.jsonl');
const words = (): string => state('workspace', 'journal', '000000000001.jsonl');

beforeAll(() => {
  world = makeWorld();
  world.write(
    'team.yaml',
    `version: 1
name: audited
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: talk, prompt: Do it. }]
permissions: { default: allow, rules: [{ id: no-publish, effect: deny, tool: bash, argv: [npm, publish] }] }
`,
  );
  world.write(
    'script.yaml',
    `version: 1
sections:
  - actor: ada
    turns:
      - calls: [{ bash: { command: npm publish } }]
      - calls: [{ bash: { command: "echo ghp_0123456789abcdefghij0123456789abcdef > a.txt" } }]
      - calls: [{ complete_task: { summary: done } }]
`,
  );
  expect(world.troupe('run', 'team.yaml', '--run-id', 'r1').code).toBe(0);
  world.write('.troupe/policy.yaml', 'version: 1\nrules: []\n');
  expect(world.troupe('trust', '.troupe/policy.yaml').code).toBe(0);
  expect(world.troupe('trust', '--revoke', '.troupe/policy.yaml').code).toBe(0);
  cpSync(state(), join(world.root, 'kept'), { recursive: true });
});

afterAll(() => world.remove());

/** Starts from the untouched state each time. */
function fresh(): void {
  rmSync(state(), { recursive: true, force: true });
  cpSync(join(world.root, 'kept'), state(), { recursive: true });
}

type Line = Record<string, unknown>;

/** Writes the journal anew with checksums that fit. */
function rewrite(change: (lines: Line[]) => Line[], file = journal()): void {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const parsed = lines.map((line) => JSON.parse(line) as Line);
  let crc = 0;
  const out = change(parsed).map(({ c: _, ...body }) => {
    const text = JSON.stringify(body).slice(0, -1);
    const bytes = Buffer.from(text);
    crc = crc32(bytes, 0, bytes.length, crc);
    return `${text},"c":"${crcText(crc)}"}`;
  });
  writeFileSync(file, `${out.join('\n')}\n`);
}

const verify = () => {
  const done = world.troupe('audit', 'verify', '--json');
  return { code: done.code, report: JSON.parse(done.stdout) as { breaks: Line[]; ok: boolean } };
};

test('who decided what, by which rule, with secrets taken out', () => {
  fresh();
  const rows = JSON.parse(world.troupe('audit', '--json').stdout) as Line[];
  expect(rows.filter((row) => row['what'] === 'decision')).toMatchObject([
    {
      actor: 'ada',
      tool: 'bash',
      effect: 'deny',
      rule: 'no-publish',
      layer: 'team',
      id: expect.any(String),
      sandbox: expect.any(Number),
      n: expect.any(Number),
    },
    { actor: 'ada', tool: 'bash', effect: 'allow' },
  ]);
  const shown = world.troupe('audit').stdout;
  expect(shown).toMatch(
    /decision cal_\S+ ada deny bash \{"command":"npm publish"\} rule no-publish of team sandbox \d/,
  );
  expect(shown).not.toContain('ghp_0123456789');
  for (const file of ['key', 'heads.jsonl']) {
    expect(statSync(state('audit', file)).mode & 0o777).toBe(0o600);
  }
});

test('P50: an untouched audit verifies', () => {
  fresh();
  expect(verify()).toMatchObject({ code: 0, report: { ok: true, breaks: [] } });
});

test('P50: an edited record is found, also with checksums that fit', () => {
  fresh();
  rewrite((lines) => lines);
  expect(verify().code).toBe(0);
  rewrite((lines) =>
    lines.map((line) => {
      const text = JSON.stringify(line).replace('"effect":"deny"', '"effect":"allow"');
      return JSON.parse(text) as Line;
    }),
  );
  const { code, report } = verify();
  expect(code).toBe(1);
  expect(report.breaks).toMatchObject([
    { run: 'r1', seq: expect.any(Number), what: 'its content is not the one recorded' },
  ]);
});

test('P50: swapped records, and one without its mark, are found', () => {
  fresh();
  rewrite((lines) => {
    const [a = 0, b = 0] = lines.flatMap((line, at) => (line['decisions'] ? [at] : []));
    const swapped = [...lines];
    swapped[a] = { ...lines[b], s: lines[a]?.['s'], d: lines[a]?.['d'] };
    swapped[b] = { ...lines[a], s: lines[b]?.['s'], d: lines[b]?.['d'] };
    return swapped;
  });
  expect(verify()).toMatchObject({ code: 1, report: { breaks: [{ run: 'r1' }] } });
  fresh();
  rewrite((lines) =>
    lines.map(({ audit, ...line }) =>
      audit && line['decisions'] ? line : { ...line, ...(audit ? { audit } : {}) },
    ),
  );
  expect(verify()).toMatchObject({ code: 1, report: { breaks: [{ run: 'r1' }] } });
});

test('P51: a cut tail and a removed run are found', () => {
  fresh();
  rewrite((lines) => lines.slice(0, Math.floor(lines.length / 2)));
  const cut = verify();
  expect(cut.code).toBe(1);
  expect(cut.report.breaks[0]?.['what']).toContain('its end is cut off');
  fresh();
  renameSync(state('runs', 'r1'), join(world.root, 'gone'));
  expect(verify()).toMatchObject({
    code: 1,
    report: { breaks: [{ run: 'r1', what: 'the run was removed' }] },
  });
  rmSync(join(world.root, 'gone'), { recursive: true });
  fresh();
  rmSync(state('audit', 'heads.jsonl'));
  expect(verify().code).toBe(1);
});

test('P50: words on trust are in it, chained, and a changed, dropped or cut one is found', () => {
  fresh();
  const rows = JSON.parse(world.troupe('audit', '--json').stdout) as Line[];
  const trust = rows.filter((row) => row['run'] === null);
  expect(trust).toMatchObject([
    {
      what: 'trust.trusted',
      rule: '.troupe/policy.yaml',
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      n: 1,
    },
    { what: 'trust.revoked', rule: '.troupe/policy.yaml', n: 2 },
  ]);
  expect(world.troupe('audit').stdout).toMatch(
    /trust\.revoked [0-9a-f]{64} \.troupe\/policy\.yaml/,
  );
  // Of a run: only what was said while it went on.
  const ofRun = JSON.parse(world.troupe('audit', '--run', 'r1', '--json').stdout) as Line[];
  expect(ofRun.every((row) => row['run'] === 'r1')).toBe(true);
  rewrite((lines) => lines, words());
  expect(verify().code).toBe(0);
  rewrite(
    (lines) =>
      lines.map((line) => (line['what'] === 'revoked' ? { ...line, what: 'trusted' } : line)),
    words(),
  );
  expect(verify()).toMatchObject({
    code: 1,
    report: { breaks: [{ run: '@workspace', what: 'its content is not the one recorded' }] },
  });
  fresh();
  rewrite(
    (lines) =>
      lines.slice(
        0,
        lines.findIndex((line) => line['what'] === 'revoked'),
      ),
    words(),
  );
  expect(verify()).toMatchObject({ code: 1, report: { breaks: [{ run: '@workspace' }] } });
});

/** M8: what the supervisor itself records is by reference as well: prompts, calls that were judged, reports, summaries. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BlobStore } from '../../src/journal/index.ts';
import { asActorName } from '../../src/kernel/index.ts';
import { NodeFiles, sha256Hex } from '../../src/platform/index.ts';
import type { PlacedEntry } from '../../src/protocol/index.ts';
import { readSession } from '../../src/sessions/index.ts';
import { listening, recordsOf } from '../support/supervised.ts';
import { makeWorld, type RunningCommand, type World } from './cli-world.ts';

const KIB = 1024;
const LINE_MAX = 70 * KIB;
const long = (word: string, bytes: number): string =>
  `begin ${word} ${'é'.repeat(bytes / 2)} end-of-${word}`;
// As much as a team file may hold.
const PROMPT = long('prompt', 1020 * KIB);
const CONTENT = long('content', 1024 * KIB);
const REPORT = long('report', 300 * KIB);
const QUESTION = long('question', 200 * KIB);
const SUMMARY = long('summary', 200 * KIB);

const SCRIPT = `version: 1
sections:
  - actor: ada-sub-1
    turns: [{ text: "${REPORT}" }]
  - task: big
    turns:
      - calls: [{ task: { prompt: "${QUESTION}" } }]
      - calls: [{ write_file: { path: big.txt, content: "${CONTENT}" } }]
      - calls: [{ complete_task: { summary: "${SUMMARY}" } }]
  - task: next
    turns: [{ calls: [{ complete_task: { summary: small } }] }]
`;

const team = (go: string): string => `version: 1
name: large
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks:
  - { id: hold, run: "until test -e '${go}'; do sleep 0.1; done" }
  - { id: big, needs: [hold], prompt: "${PROMPT}", agent: implementer }
  - { id: next, needs: [big], prompt: Go on., agent: implementer }
sandbox: off
permissions: { default: allow }
`;

let world: World;
let command: RunningCommand;

beforeEach(() => {
  world = makeWorld();
  world.write('team.yaml', team(join(world.root, 'go')));
  world.write('script.yaml', SCRIPT);
});

afterEach(async () => {
  command.child.kill('SIGKILL');
  await command.done;
  world.remove();
});

const folder = (...parts: string[]): string =>
  join(world.repo, '.git', 'troupe', 'runs', 'p1', ...parts);

const blobs = (): BlobStore =>
  new BlobStore({ files: new NodeFiles(), directory: folder('blobs'), hash: sha256Hex });

function session(name: string): Promise<PlacedEntry[]> {
  return readSession({
    files: new NodeFiles(),
    directory: folder('journal'),
    actor: asActorName(name),
    upTo: Number.MAX_SAFE_INTEGER,
    blobs: blobs(),
  });
}

function longestLine(): number {
  const names = readdirSync(folder('journal')).filter((name) => name.endsWith('.jsonl'));
  const lines = names.flatMap((name) => readFileSync(folder('journal', name), 'utf8').split('\n'));
  return Math.max(...lines.map((line) => Buffer.byteLength(line)));
}

const lettersOf = (entries: readonly PlacedEntry[]): string[] =>
  entries.flatMap(({ entry }) =>
    entry.type === 'mail' ? entry.items.map(({ text }) => text) : [],
  );

test('M8: a prompt, a file, a report and a summary of up to 1 MiB are whole for whoever gets them, through kill -9', async () => {
  command = world.start('run', 'team.yaml', '--run-id', 'p1');
  await listening(world, command);
  await command.saw('hold');
  command.child.kill('SIGKILL');
  await command.done;

  // The letter to the worker is made of what the journal and its payloads say.
  writeFileSync(join(world.root, 'go'), '');
  command = world.start('resume', 'p1');
  const ended = await command.done;
  expect(ended.code, ended.stderr).toBe(0);
  expect(longestLine()).toBeLessThan(LINE_MAX);

  const ada = await session('ada');
  const letters = lettersOf(ada);
  expect(letters.some((text) => text.includes(PROMPT))).toBe(true);
  expect(letters.some((text) => text.includes(`- big (big): ${SUMMARY}`))).toBe(true);
  const results = ada.flatMap(({ entry }) => (entry.type === 'result' ? [entry] : []));
  expect(results.find(({ tool }) => tool === 'task')?.text).toBe(REPORT);
  expect(world.git('show', 'troupe/p1/main:big.txt')).toBe(CONTENT);

  const decisions = (await recordsOf(world, 'p1')).flatMap((record) => record.decisions ?? []);
  const written = decisions.find(({ tool }) => tool === 'write_file');
  const input = new TextDecoder().decode(await blobs().get(written?.blob ?? ''));
  expect(JSON.parse(input)).toEqual({ path: 'big.txt', content: CONTENT });

  const [shown] = JSON.parse(world.troupe('tasks', 'big', '--json').stdout);
  expect([shown.prompt, shown.summary]).toEqual([PROMPT, SUMMARY]);
  expect(world.troupe('tail', 'ada', '--json').stdout).toContain('end-of-prompt');
  expect(world.troupe('session', 'ada', '--json').stdout).toContain('end-of-report');
  expect(world.troupe('doctor').stdout).toMatch(/^ok {4}payloads of p1: \d+ payloads, all whole$/m);

  // What is lost is named with the record that needs it, what is too much is told.
  const blob = written?.blob ?? '';
  writeFileSync(folder('blobs', blob), 'rotten');
  writeFileSync(folder('blobs', 'f'.repeat(64)), 'left by a crash');
  const doctor = world.troupe('doctor');
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toContain(`named by no record: ${'f'.repeat(64)}`);
  expect(doctor.stdout).toMatch(
    new RegExp(`BAD .*${blob} .*is damaged.*record \\d+ .*write_file of ada`),
  );
  rmSync(folder('blobs', blob));
  expect(world.troupe('doctor').stdout).toMatch(new RegExp(`BAD .*${blob} .*is missing`));
});

test('M8: a call of 1 MiB that a person is asked about is shown whole', async () => {
  world.write('team.yaml', team(join(world.root, 'go')).replace('default: allow', 'default: ask'));
  writeFileSync(join(world.root, 'go'), '');
  command = world.start('run', 'team.yaml', '--run-id', 'p1');
  await command.saw('ada asks to use write_file');
  const [ask] = JSON.parse(world.troupe('approvals', '--json').stdout);
  expect(ask.input).toEqual({ path: 'big.txt', content: CONTENT });
  expect(world.troupe('approve', ask.id).code).toBe(0);
  const ended = await command.done;
  expect(ended.code, ended.stderr).toBe(0);
  expect(world.git('show', 'troupe/p1/main:big.txt')).toBe(CONTENT);
  expect(longestLine()).toBeLessThan(LINE_MAX);
});

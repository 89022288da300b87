/** M8: mail of any size, whole at its receiver through `kill -9`, while the lines of the journal stay small. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BlobStore } from '../../src/journal/index.ts';
import { asActorName } from '../../src/kernel/index.ts';
import { NodeFiles, sha256Hex } from '../../src/platform/index.ts';
import type { MailItem, PlacedEntry } from '../../src/protocol/index.ts';
import { readSession } from '../../src/sessions/index.ts';
import { connectTo, listening, recordsOf, whenGoing } from '../support/supervised.ts';
import { makeWorld, type RunningCommand, type World } from './cli-world.ts';

const MIB = 1024 * 1024;
const LINE_MAX = 70 * 1024;
const long = (word: string): string => `begin ${word} ${'é'.repeat(MIB / 2)} end-of-${word}`;
const FROM_USER = long('user');
const FROM_ADA = long('ada');

/** It hangs once, until it is killed. */
const script = (marker: string): string => `version: 1
sections:
  - actor: ada
    on:
      - when: { mail: { from: user, contains: end-of-user } }
        answer: { calls: [{ send_message: { to: lead, text: "${FROM_ADA}" } }] }
    turns: [{ calls: [{ bash: { command: "test -e '${marker}' || { touch '${marker}'; sleep 600; }" } }] }]
    otherwise: { calls: [{ complete_task: { summary: Told. } }] }
  - actor: lead
    on:
      - when: { mail: { from: ada, contains: end-of-ada } }
        answer: { text: The lead has read all of it. }
    turns: []
    otherwise: { text: Heard. }
`;

const team = (go: string): string => `version: 1
name: payloads
goal: Talk.
model: scripted/script.yaml
members: { lead: { agent: lead }, teammates: [{ name: ada, agent: implementer }] }
tasks:
  - { id: talk, prompt: Wait., agent: implementer }
  - { id: wait, run: "until test -e '${go}'; do sleep 0.1; done" }
sandbox: off
permissions: { default: allow }
`;

let world: World;
let command: RunningCommand;

beforeEach(() => {
  world = makeWorld();
  world.write('team.yaml', team(join(world.root, 'go')));
  world.write('script.yaml', script(join(world.root, 'hung')));
});

afterEach(async () => {
  command.child.kill('SIGKILL');
  await command.done;
  world.remove();
});

const folder = (...parts: string[]): string =>
  join(world.repo, '.git', 'troupe', 'runs', 'm1', ...parts);

async function kill(): Promise<void> {
  command.child.kill('SIGKILL');
  await command.done;
}

function session(name: string): Promise<PlacedEntry[]> {
  const files = new NodeFiles();
  return readSession({
    files,
    directory: folder('journal'),
    actor: asActorName(name),
    upTo: Number.MAX_SAFE_INTEGER,
    blobs: new BlobStore({ files, directory: folder('blobs'), hash: sha256Hex }),
  });
}

const mailOf = (entries: readonly PlacedEntry[], from: string): MailItem[] =>
  entries.flatMap(({ entry }) =>
    entry.type === 'mail' ? entry.items.filter((item) => item.from === from) : [],
  );

function linesOf(): string[] {
  const names = readdirSync(folder('journal')).filter((name) => name.endsWith('.jsonl'));
  return names.flatMap((name) => readFileSync(folder('journal', name), 'utf8').split('\n'));
}

test('M8: a message of 1 MiB to an actor, and one from it to the lead, are whole through kill -9', async () => {
  command = world.start('run', 'team.yaml', '--run-id', 'm1');
  await listening(world, command);
  // It is in the middle of a call: the mail waits for its next request.
  await expect.poll(() => existsSync(join(world.root, 'hung')), { timeout: 20_000 }).toBe(true);
  const client = await connectTo(world);
  const mail = { run: 'm1', to: 'ada', text: FROM_USER, interrupt: false };
  const sent = await whenGoing(() => client.call('mail.send', mail));
  expect(sent.state).toBe('accepted');
  await kill();
  client.close();

  command = world.start('resume', 'm1');
  await listening(world, command);
  const tail = world.start('tail', 'lead', '--follow', '--json');
  await tail.saw('end-of-ada');
  await kill();
  tail.child.kill('SIGKILL');

  command = world.start('resume', 'm1');
  await listening(world, command);
  writeFileSync(join(world.root, 'go'), '');
  const ended = await command.done;
  expect(ended.code, ended.stderr).toBe(0);

  const rows = (await world.start('tail', '--json').done).stdout.trim().split('\n');
  const shown = rows.map((line) => JSON.parse(line));
  const one = (from: string) => shown.filter((row) => row.from === from && row.body.blob);
  expect(one('user').map((row) => [row.to, row.state, row.body.text === FROM_USER])).toEqual([
    ['ada', 'seen', true],
  ]);
  expect(one('ada').map((row) => [row.to, row.state, row.body.text === FROM_ADA])).toEqual([
    ['lead', 'seen', true],
  ]);
  const lead = await session('lead');
  expect(mailOf(lead, 'ada').filter((item) => item.text === FROM_ADA)).toHaveLength(1);
  expect(JSON.stringify(lead)).toContain('The lead has read all of it.');
  expect(mailOf(await session('ada'), 'user').map((item) => item.text)).toEqual([FROM_USER]);
  expect(Math.max(...linesOf().map((line) => line.length))).toBeLessThan(LINE_MAX);
  expect((await recordsOf(world, 'm1')).length).toBeGreaterThan(0);
  expect(world.troupe('doctor').code).toBe(0);
});

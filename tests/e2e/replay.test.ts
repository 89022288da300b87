/** `troupe replay` through the built command line: recorded runs are played without a network. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { RunRow } from '../../src/protocol/index.ts';
import { makeWorld, type World } from './cli-world.ts';

const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
/** Of no shape: known to whoever recorded it by the name of a variable. */
const KNOWN = 'orchid lantern 42 & more';

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

const TEAM = `version: 1
name: small
goal: Write the files
model: scripted/script.yaml
members: { lead: { agent: lead }, teammates: [{ name: ada, agent: implementer }, { name: bo, agent: implementer }] }
tasks:
  - { id: one, title: Write one, prompt: Write one.txt. }
  - { id: two, title: Write two, prompt: Write two.txt. }
permissions: { default: allow }
`;

const SCRIPT = `version: 1
sections:
  - actor: lead
    turns: []
    otherwise: { text: Noted. }
  - task: one
    turns:
      - calls: [{ read_file: { path: secrets.txt } }, { bash: { command: 'pwd; date +%N' } }]
      - calls: [{ write_file: { path: one.txt, content: "1\\n" } }]
      - calls: [{ send_message: { to: lead, text: one is written } }, { complete_task: { summary: one } }]
  - task: two
    turns:
      - calls: [{ write_file: { path: two.txt, content: "2\\n" } }]
      - calls: [{ complete_task: { summary: two } }]
`;

function recorded(): World {
  const world = makeWorld();
  worlds.push(world);
  world.write('secrets.txt', `token ${TOKEN}\nuse ${KNOWN} twice: ${KNOWN}\n`);
  (world.env as Record<string, string>)['MY_SERVICE_TOKEN'] = KNOWN;
  world.write('team.yaml', TEAM);
  world.write('script.yaml', SCRIPT);
  world.git('add', 'secrets.txt');
  world.git('commit', '-q', '-m', 'A secret');
  const ran = world.troupe('run', 'team.yaml', '--run-id', 'r1');
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  // What answered then is gone.
  writeFileSync(join(world.repo, 'script.yaml'), 'gone\n');
  return world;
}

const runsOf = (world: World): RunRow[] =>
  JSON.parse(world.troupe('runs', '--json').stdout) as RunRow[];

describe('replay', () => {
  test('same requests get the recorded answers, and nothing is left behind', () => {
    const world = recorded();
    const before = world.git('for-each-ref');
    const played = world.troupe('replay', 'r1');
    expect(played.code, played.stdout + played.stderr).toBe(0);
    expect(played.stdout).toMatch(
      /\d+ answers of 3 actors replayed, same requests; integration tree equal: yes/,
    );
    expect(runsOf(world).map(({ id }) => id)).toEqual(['r1']);
    expect(world.git('for-each-ref')).toBe(before);
    const kept = world.troupe('replay', 'r1', '--keep', '--json');
    expect(JSON.parse(kept.stdout)).toMatchObject({
      run: 'r1-replay-1',
      of: 'r1',
      same: true,
      tree: true,
      difference: null,
    });
    expect(runsOf(world)[0]).toMatchObject({ id: 'r1-replay-1', state: 'done' });
  });

  test('the first request of a changed team that differs is named and shown', () => {
    const world = recorded();
    world.write('team.yaml', TEAM.replace('prompt: Write two.txt.', 'prompt: Write three.txt.'));
    const ran = world.troupe('run', 'team.yaml', '--model', 'replay/r1', '--json');
    expect(ran.code, ran.stdout + ran.stderr).toBe(1);
    const [run] = runsOf(world);
    expect(run?.state).toBe('failed');
    expect(run?.reason?.text).toMatch(
      /^request 1 of (ada|bo), on task two, differs from the recording \(record \d+ of r1\) in its messages/,
    );
    expect(run?.reason?.text).toContain(
      'it was \\"Write two.txt.\\", it is \\"Write three.txt.\\"'.replaceAll('\\', ''),
    );
    const [, log] = /\((outputs\/log_\w+\.log)\)/.exec(run?.reason?.text ?? '') ?? [];
    const whole = readFileSync(join(world.repo, `.git/troupe/runs/${run?.id}/${log}`), 'utf8');
    expect(whole).toContain('-Write two.txt.\n+Write three.txt.');
  });

  test('a changed profile differs in the system prompt', () => {
    const world = recorded();
    const agents = 'agents: { implementer: { description: d, prompt: Be brisk. } }\n';
    world.write('team.yaml', TEAM + agents);
    const ran = world.troupe('run', 'team.yaml', '--model', 'replay/r1', '--json');
    expect(ran.code).toBe(1);
    expect(runsOf(world)[0]?.reason?.text).toMatch(/in its system prompt, line \d+: it was/);
  });

  test('a cassette has no secret, and plays in another clone', () => {
    const world = recorded();
    const journal = world.troupe('session', 'ada', '--run', 'r1', '--json').stdout;
    expect(journal + world.troupe('session', 'bo', '--run', 'r1', '--json').stdout).toContain(
      '[redacted]',
    );
    const out = world.troupe('replay', 'r1', '--export', 'r1.cassette.jsonl');
    expect(out.code, out.stderr).toBe(0);
    const cassette = readFileSync(join(world.repo, 'r1.cassette.jsonl'), 'utf8');
    expect(cassette).not.toContain(TOKEN);
    expect(cassette).not.toContain('orchid');
    expect(cassette).toContain('use [redacted] twice: [redacted]');
    expect(cassette).toContain('[redacted]');
    world.git('clone', '-q', world.repo, join(world.root, 'clone'));
    // Who plays it does not know that value.
    delete (world.env as Record<string, string>)['MY_SERVICE_TOKEN'];
    const played = world.at(
      join(world.root, 'clone'),
      'replay',
      join(world.repo, 'r1.cassette.jsonl'),
    );
    expect(played.code, played.stdout + played.stderr).toBe(0);
    expect(played.stdout).toContain('integration tree equal: yes');
  });

  test('a replay that was killed goes on from its journal', async () => {
    const world = recorded();
    const first = world.start('replay', 'r1');
    await first.saw('started by');
    first.child.kill('SIGKILL');
    await first.done;
    expect(runsOf(world)[0]).toMatchObject({ id: 'r1-replay-1', state: 'interrupted' });
    const resumed = world.troupe('resume', 'r1-replay-1');
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
    expect(resumed.stdout).toContain('same requests; integration tree equal: yes');
  });

  test('what is no recording is said (exit 5), and a file that is none (exit 2)', () => {
    const world = makeWorld();
    worlds.push(world);
    const unknown = world.troupe('replay', 'nope', '--json');
    expect(unknown.code).toBe(5);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: 'control/unknown-run' } });
    expect(world.troupe('replay', './nope.jsonl').code).toBe(5);
    expect(world.troupe('replay', './README.md').code).toBe(2);
    world.write('team.yaml', TEAM);
    expect(world.troupe('run', 'team.yaml', '--model', 'replay/nope').code).toBe(5);
  });
});

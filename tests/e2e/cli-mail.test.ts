/** Mail from people, by the real command line: to a stopped actor, to everybody, to names that nobody reads. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeWorld, type Result, type RunningCommand, type World } from './cli-world.ts';

const SCRIPT = `version: 1
sections:
  - actor: ada
    turns: [{ calls: [{ bash: { command: sleep 60 } }] }]
    otherwise: { text: Waiting. }
  - actor: bo
    turns: [{ text: Ready. }]
    otherwise: { text: Heard. }
`;

/** Ends when the file is there. */
const team = (go: string): string => `version: 1
name: mail
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }, { name: bo, agent: explorer }] }
tasks:
  - { id: talk, prompt: Wait., agent: implementer }
  - { id: wait, run: "until test -e '${go}'; do sleep 0.1; done" }
permissions: { default: allow }
`;

let world: World;
let run: RunningCommand;

beforeEach(async () => {
  world = makeWorld();
  // In the sandbox a command sees the repository, and not the folder around it.
  world.write('team.yaml', team(join(world.repo, '.git/go')));
  world.write('script.yaml', SCRIPT);
  run = world.start('run', 'team.yaml', '--run-id', 'm1');
  await run.saw('task talk started by ada');
  await run.saw('task wait started');
});

afterEach(async () => {
  run.child.kill('SIGKILL');
  await run.done;
  world.remove();
});

const json = (...args: string[]): any => JSON.parse(world.troupe(...args, '--json').stdout);

async function finish(): Promise<Result> {
  world.write('.git/go', '');
  return run.done;
}

test('mail to a stopped actor is a dead letter, said so with exit 1, listed, and dropped', async () => {
  expect(world.troupe('mail', 'dead')).toMatchObject({ stdout: 'There are no dead letters.\n' });
  expect(world.troupe('stop', '--actor', 'ada')).toMatchObject({ code: 0 });
  const people = world.troupe('send', 'ada', 'too late');
  expect(people).toMatchObject({ code: 1, stdout: '' });
  expect(people.stderr).toContain('ada is stopped');
  expect(people.stderr).toContain('troupe mail dead');
  expect(people.stderr).not.toContain('spooled');
  const program = world.troupe('send', 'ada', 'again', '--json');
  expect(program).toMatchObject({ code: 1, stderr: '' });
  const { id, state } = JSON.parse(program.stdout);
  expect(state).toBe('dead');

  const dead = json('mail', 'dead');
  expect(dead.map((row: any) => row.body.text)).toEqual(['too late', 'again']);
  expect(dead[1]).toMatchObject({ id, to: 'ada', from: 'user', state: 'dead' });
  expect(world.troupe('mail', 'dead').stdout).toContain('ada is stopped');
  // Nobody is there to read it now either.
  expect(world.troupe('mail', 'retry', id).code).not.toBe(0);
  expect(world.troupe('mail', 'drop', id)).toMatchObject({ code: 0 });
  expect(json('mail', 'dead').map((row: any) => row.body.text)).toEqual(['too late']);
  expect(world.troupe('mail', 'drop', id)).toMatchObject({ code: 5 });
  expect(world.troupe('mail', 'drop')).toMatchObject({ code: 2 });
  expect(world.troupe('mail', 'dorp', id).stderr).toContain('Did you mean drop?');
  await finish();
  // Read from the journal, after the end, and nothing to be done about it any more.
  expect(json('mail', 'dead')).toHaveLength(1);
  expect(world.troupe('mail', 'drop', dead[0].id)).toMatchObject({ code: 4 });
});

test('a letter that is dead in the record that brings it is dead for who follows, too', async () => {
  const tail = world.start('tail', 'ada', '--follow', '--json');
  await tail.saw('task.assign');
  world.troupe('stop', '--actor', 'ada');
  const { id } = json('send', 'ada', 'too late');
  await finish();
  const rows = (await tail.done).stdout.trim().split('\n');
  const row = rows.map((line) => JSON.parse(line)).find((one) => one.id === id);
  expect(row).toMatchObject({ state: 'dead', reason: 'ada is stopped' });
});

test('all is everybody; user, supervisor, broker and system are explained', () => {
  const sent = json('send', 'all', 'hello');
  expect(sent.state).toBe('accepted');
  expect(sent.to.toSorted()).toEqual(['ada', 'bo']);
  expect(world.troupe('send', 'all', 'hello').stdout).toMatch(/^Sent to (ada, bo|bo, ada)\.$/m);
  for (const [name, says] of [
    ['user', '"user" is you'],
    ['supervisor', 'is the runtime itself'],
    ['broker', 'decides what agents may do'],
    ['system', 'Troupe itself writes'],
  ] as const) {
    const refused = world.troupe('send', name, 'hello');
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toContain(says);
  }
});

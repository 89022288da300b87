/** A review gate and a flaky one, through the built command: findings go back to the author, and only approved work lands. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeWorld, type World } from './cli-world.ts';

/** One after the other in one run. The gate of `flaky` fails at its first try alone: the task's command is prc-1. */
const TEAM = `version: 1
name: reviewed
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks:
  - id: flaky
    run: echo 1 > flaky.txt
    verify: [{ run: 'case $TROUPE_PROC in */prc-2) exit 1 ;; esac', retries: 2 }]
  - id: hello
    prompt: Say hello to all.
    needs: [flaky]
    attempts: 3
    verify: [{ review: reviewer }, { run: "test -s README.md", timeout: 1m }]
  - { id: never, prompt: Say never., needs: [hello], attempts: 1, verify: [{ review: reviewer }] }
permissions: { default: allow }
`;

const SCRIPT = `version: 1
sections:
  - actor: ada
    turns:
      - calls: [{ write_file: { path: hello.txt, content: "hello\\n" } }]
      - calls: [{ complete_task: { summary: said hello } }]
      - calls: [{ write_file: { path: hello.txt, content: "hello all\\n" } }]
      - calls: [{ complete_task: { summary: said hello to all } }]
      - calls: [{ write_file: { path: never.txt, content: "never\\n" } }]
      - calls: [{ complete_task: { summary: said never } }]
    otherwise: { text: Done. }
  - actor: reviewer-review-1
    turns:
      - calls: [{ read_file: { path: hello.txt } }, { write_file: { path: hello.txt, content: mine } }]
      - calls: [{ review_plan: { id: review-1, approve: false } }]
      - calls: [{ review_plan: { id: review-1, approve: false, feedback: "hello.txt:1 greets nobody" } }]
    otherwise: { text: Done. }
  - actor: reviewer-review-2
    turns: [{ text: Looks good to me. }]
    otherwise: { text: Looks good to me. }
  - actor: reviewer-review-3
    turns:
      - calls: [{ review_plan: { id: review-3, approve: true, feedback: "does what was asked for" } }]
    otherwise: { text: Done. }
  - actor: reviewer-review-4
    turns:
      - calls: [{ review_plan: { id: review-4, approve: false, feedback: "never say never" } }]
    otherwise: { text: Done. }
`;

let world: World;
beforeEach(() => {
  world = makeWorld();
  world.write('script.yaml', SCRIPT);
});
afterEach(() => world.remove());

const json = (...args: string[]): any => JSON.parse(world.troupe(...args, '--json').stdout);

test('findings come back as rework, silence approves nothing, only approved work lands; a flaky pass is on record', () => {
  world.write('team.yaml', TEAM);
  const run = world.troupe('run', 'team.yaml', '--run-id', 'v1');
  expect(run.code, run.stdout + run.stderr).toBe(1);
  expect(run.stdout).toContain(
    'task hello gate review: reviewer: not approved: hello.txt:1 greets nobody',
  );
  expect(run.stdout).toContain('task hello gate review: reviewer: passed');
  expect(run.stdout).toContain('task never gate review: reviewer: not approved: never say never');
  expect(run.stdout).toMatch(/task flaky gate .*: passed \(on try 2\)/);
  expect(world.git('show', 'troupe/v1/main:hello.txt')).toBe('hello all\n');
  expect(world.git('ls-tree', '--name-only', 'troupe/v1/main')).not.toContain('never.txt');

  const tail = world
    .troupe('tail', 'ada', '--json')
    .stdout.trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const rework = tail.find((row) => row.type === 'task.rework');
  expect(rework.body.text).toContain('hello.txt:1 greets nobody');
  expect(tail[0].body.text).toContain('a review by reviewer');

  const states = json('tasks').map((task: any) => [task.id, task.state]);
  expect(Object.fromEntries(states)).toEqual({ flaky: 'done', hello: 'done', never: 'failed' });
  const [hello] = json('tasks', 'hello');
  const reviews = hello.gates.filter((gate: any) => gate.gate === 'review: reviewer');
  expect(reviews.map(({ ok, text }: any) => [ok, text])).toEqual([
    [false, 'hello.txt:1 greets nobody'],
    [true, 'does what was asked for'],
  ]);
  expect(reviews[0].commit).not.toBe(reviews[1].commit);
  expect(reviews[1].commit).toBe(world.git('rev-parse', 'troupe/v1/task/hello').trim());
  const [flaky] = json('tasks', 'flaky');
  expect(flaky.gates).toMatchObject([{ ok: true, tries: 2, exit: 0 }]);
});

/** Runs through the built command: in the foreground, watched and stopped from other terminals, resumed, killed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeWorld, type RunningCommand, type World } from './cli-world.ts';

const GRAPH = `version: 1
name: graph
tasks:
  - { id: write, run: echo new > b.txt }
  - { id: change, run: echo more >> README.md }
  - { id: both, run: cat README.md b.txt > c.txt, needs: [write, change], verify: [test -s c.txt] }
`;

/** Goes on until it is let: `go` is a file outside of the repository. */
const slow = (go: string): string => `version: 1
name: slow
tasks:
  - { id: quick, run: echo 1 > quick.txt }
  - { id: wait, run: "until test -e '${go}'; do sleep 0.1; done; echo 2 > wait.txt", needs: [quick] }
`;

const SCRIPT = `version: 1
sections:
  - actor: ada
    on:
      - when: { mail: { from: user } }
        once: true
        answer: { text: Heard., calls: [{ complete_task: { summary: told by the user } }] }
    turns:
      - calls: [{ bash: { command: sleep 60 } }]
    otherwise: { text: Waiting. }
`;

const AGENT = `version: 1
name: agent
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: talk, prompt: Wait for the user. }]
permissions: { default: allow }
`;

let world: World;
let running: RunningCommand[];

beforeEach(() => {
  world = makeWorld();
  running = [];
});

afterEach(async () => {
  for (const command of running) {
    command.child.kill('SIGKILL');
    await command.done;
  }
  world.remove();
});

function start(...args: string[]): RunningCommand {
  const command = world.start(...args);
  running.push(command);
  return command;
}

const json = (...args: string[]): any => JSON.parse(world.troupe(...args, '--json').stdout);
const states = (): Record<string, string> =>
  Object.fromEntries(json('tasks').map((task: any) => [task.id, task.state]));
const lockFiles = (): string[] =>
  readdirSync(join(world.repo, '.git/troupe')).filter((name) => name.startsWith('lock'));

/** A slow run that is waiting in its second task. */
async function startSlow(): Promise<RunningCommand> {
  // In the sandbox a command sees the repository, and not the folder around it.
  world.write('slow.yaml', slow(join(world.repo, '.git/go')));
  const command = start('run', 'slow.yaml', '--run-id', 's1');
  await command.saw('task wait started');
  return command;
}

test('a graph of commands: lines, summary, tables, diff, merge, worktrees', () => {
  world.write('team.yaml', GRAPH);
  const before = world.git('status', '--porcelain');
  const run = world.troupe('run', 'team.yaml', '--run-id', 'g1');
  expect(run.code, run.stderr).toBe(0);
  expect(run.stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z task both gate test -s c\.txt: passed$/m);
  expect(run.stdout).toContain('3 of 3 tasks done');
  expect(run.stdout).toContain('Branch troupe/g1/main: 3 files changed');
  expect(run.stdout).toContain('  troupe merge g1\n');
  expect(run.stdout).not.toContain('\u001B');
  expect(world.git('status', '--porcelain')).toBe(before);

  const [row] = json('runs');
  expect(row).toMatchObject({ id: 'g1', name: 'graph', state: 'done', branch: 'troupe/g1/main' });
  expect(Object.keys(row).join(' ')).toBe(
    'id name state reason startedAt endedAt base branch usage',
  );
  expect(states()).toEqual({ write: 'done', change: 'done', both: 'done' });
  expect(json('tasks', 'both')).toMatchObject([{ id: 'both', needs: ['write', 'change'] }]);
  expect(json('ps')).toEqual([]);
  expect(world.troupe('tasks', 'botj').stderr).toContain('Did you mean both?');
  expect(world.troupe('tasks', 'botj').code).toBe(5);

  const diff = json('diff', 'both');
  expect(diff.files).toEqual([
    { path: 'c.txt', oldPath: null, status: 'added', added: 3, removed: 0 },
  ]);
  expect(world.troupe('diff', 'g1', '--stat').stdout).toContain('3 files changed');
  expect(world.troupe('resume', 'g1')).toMatchObject({ code: 1 });
  expect(lockFiles()).toEqual([]);
});

test('merge refuses what would lose edits, names the files, then merges', () => {
  world.write('team.yaml', GRAPH);
  expect(world.troupe('run', 'team.yaml', '--run-id', 'g1').code).toBe(0);
  expect(world.troupe('merge', 'g1', '--dry-run').stdout).toContain('Would merge g1 into main');
  world.write('README.md', 'mine\n');
  const refused = world.troupe('merge', 'g1', '--json');
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    error: { code: 'control/merge-refused' },
    files: ['README.md'],
  });
  expect(readFileSync(join(world.repo, 'README.md'), 'utf8')).toBe('mine\n');
  world.git('checkout', '-q', 'README.md');
  expect(json('merge', 'g1')).toMatchObject({ state: 'merged', branch: 'main' });
  expect(readFileSync(join(world.repo, 'c.txt'), 'utf8')).toBe('A repository\nmore\nnew\n');
  expect(json('merge', 'g1')).toMatchObject({ state: 'up-to-date' });
});

test('a failed task is exit 1 and says why; its tree stays until gc, which saves its work', () => {
  world.write(
    'team.yaml',
    `version: 1\nname: bad\ntasks:\n  - { id: bad, run: echo oops > oops.txt; exit 3, attempts: 1 }\n`,
  );
  const run = world.troupe('run', 'team.yaml', '--run-id', 'b1');
  expect(run.code).toBe(1);
  expect(run.stdout).toContain('0 of 1 task done');
  expect(run.stdout).toContain('exit status 3');
  expect(run.stdout).toContain('troupe tasks bad --run b1');
  expect(json('worktrees')).toMatchObject([{ task: 'bad', run: 'b1', state: 'failed' }]);
  const { removed, kept } = json('worktrees', 'gc');
  expect(kept).toEqual([]);
  expect(removed).toMatchObject([{ task: 'bad', saved: 'refs/troupe/saved/b1/bad/1' }]);
});

test('run --json prints one document', () => {
  world.write('team.yaml', GRAPH);
  const run = world.troupe('run', 'team.yaml', '--json');
  const document = JSON.parse(run.stdout);
  expect(document).toMatchObject({ name: 'graph', state: 'done' });
  expect(document.tasks).toHaveLength(3);
});

test('other terminals watch and stop it; a second run names the holder; resume goes on', async () => {
  const first = await startSlow();
  expect(states()).toEqual({ quick: 'done', wait: 'running' });
  expect(json('runs')).toMatchObject([{ id: 's1', state: 'running', endedAt: null }]);
  const second = world.troupe('run', 'slow.yaml');
  expect(second.code).toBe(4);
  expect(second.stderr).toContain(`process ${first.child.pid}, since `);
  expect(json('runs')).toHaveLength(1);
  expect(world.troupe('merge', 's1')).toMatchObject({ code: 1 });
  expect(json('worktrees')[0]).toMatchObject({ kept: 'the run goes on' });

  const stop = json('stop');
  expect(stop).toMatchObject({ id: 's1', state: 'interrupted' });
  const ended = await first.done;
  expect(ended.code).toBe(130);
  expect(ended.stdout).toContain('  troupe resume s1\n');
  expect(lockFiles()).toEqual([]);
  expect(json('runs')).toMatchObject([{ state: 'interrupted', reason: { kind: 'stopped' } }]);

  const resumed = start('resume', 's1');
  await resumed.saw('task wait started');
  world.write('.git/go', '');
  expect((await resumed.done).code).toBe(0);
  expect(world.git('show', 'troupe/s1/main:wait.txt')).toBe('2\n');
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s stops gracefully, leaves nothing running and names resume',
  async (signal) => {
    const command = await startSlow();
    command.child.kill(signal);
    const ended = await command.done;
    expect(ended.code).toBe(130);
    expect(ended.stdout).toContain(`Stopping after ${signal}`);
    expect(ended.stdout).toContain('troupe resume s1');
    expect(lockFiles()).toEqual([]);
    expect(existsSync(join(world.repo, '.git/troupe/supervisor.json'))).toBe(false);
  },
);

test('kill -9: the run is interrupted, its lock is taken over, and resume ends as if nothing was', async () => {
  const command = await startSlow();
  command.child.kill('SIGKILL');
  await command.done;
  expect(json('runs')).toMatchObject([{ state: 'interrupted' }]);
  expect(world.troupe('stop').code).toBe(4);
  world.write('.git/go', '');
  const resumed = world.troupe('resume', 's1');
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(world.git('log', '--format=%s', 'troupe/s1/main').split('\n')).toHaveLength(
    world.git('log', '--format=%s', 'troupe/s1/main').trim().split('\n').length + 1,
  );
  expect(states()).toEqual({ quick: 'done', wait: 'done' });
});

test('mail to an agent is heard within its turn; tail and events follow until the end', async () => {
  world.write('team.yaml', AGENT);
  world.write('script.yaml', SCRIPT);
  const command = start('run', 'team.yaml', '--run-id', 'a1');
  await command.saw('task talk started by ada');
  const tail = start('tail', 'ada', '--follow', '--json');
  const events = start('events', '--follow', '--type', 'task.*', '--json');
  await events.saw('task.claimed');
  expect(json('ps')).toMatchObject([{ name: 'ada', kind: 'teammate', task: 'talk' }]);
  expect(world.troupe('send', 'adda', 'hello')).toMatchObject({ code: 5 });
  const sent = json('send', 'ada', 'Stop waiting', '--interrupt');
  expect(sent).toMatchObject({ run: 'a1', state: 'accepted' });
  const ended = await command.done;
  expect(ended.code, ended.stdout + ended.stderr).toBe(0);

  const mail = (await tail.done).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(mail.map((row) => [row.type, row.lane])).toContainEqual(['chat.message', 'interrupt']);
  expect(mail.map((row) => row.n)).toEqual(mail.map((_row, index) => index + 1));
  const seen = (await events.done).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(seen.at(-1)).toMatchObject({ run: 'a1', type: 'task.done' });
  expect(seen.every((event) => event.type.startsWith('task.'))).toBe(true);
  const { seq } = mail.find((row) => row.id === sent.id);
  expect(json('tail', 'ada', '--from', String(seq))).toMatchObject({ id: sent.id, state: 'seen' });
});

test('without a supervisor mail is spooled, said so, and taken in by resume', async () => {
  world.write('team.yaml', AGENT);
  world.write('script.yaml', SCRIPT);
  const command = start('run', 'team.yaml', '--run-id', 'a1');
  await command.saw('task talk started by ada');
  command.child.kill('SIGKILL');
  await command.done;
  const sent = json('send', 'ada', 'Stop waiting', '--interrupt');
  expect(sent).toMatchObject({ run: 'a1', to: 'ada', state: 'spooled' });
  const resumed = world.troupe('resume', 'a1');
  expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
  const mail = world.troupe('tail', 'ada', '--json').stdout.trim().split('\n');
  expect(mail.filter((line) => line.includes(sent.id))).toHaveLength(1);
  expect(readdirSync(join(world.repo, '.git/troupe/spool'))).toEqual([]);
});

test('a reader that goes away ends a command quietly', async () => {
  world.write('team.yaml', GRAPH);
  expect(world.troupe('run', 'team.yaml').code).toBe(0);
  const events = start('events');
  events.child.stdout?.destroy();
  expect(await events.done).toMatchObject({ code: 0, stderr: '' });
});

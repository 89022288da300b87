/** Commands in the background through the built command line: read, waited for, ended; none outlives what it belongs to. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MailRow, TaskRow } from '../../src/protocol/index.ts';
import { makeWorld, type World } from './cli-world.ts';

let world: World;
/** An argument of `sleep` that no other process of the machine has. */
let sleep: string;

beforeEach(() => {
  world = makeWorld();
  sleep = `900.${process.pid}${String(process.hrtime.bigint()).slice(-9)}`;
});

afterEach(() => world.remove());

function team(turns: string, more = ''): void {
  world.write(
    '../team.yaml',
    `version: 1
name: servers
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: serve, title: Serve, prompt: Serve it, attempts: 1 }]
permissions: { default: allow }
${more}`,
  );
  world.write('../script.yaml', `version: 1\nsections:\n  - actor: ada\n    turns:\n${turns}`);
}

const SERVER = (): string =>
  `bash: { command: "echo up; echo läuft >&2; sleep ${sleep} & exec sleep ${sleep}", background: true }`;

/** Processes of the machine that run our `sleep`. */
function sleepers(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(sleep);
    } catch {
      return false;
    }
  });
}

interface Shown {
  readonly type: string;
  readonly tool?: string;
  readonly ok?: boolean;
  readonly text?: string;
}

function results(): Shown[] {
  const shown = JSON.parse(world.troupe('session', 'ada', '--json').stdout) as { entries: Shown[] };
  return shown.entries.filter((entry) => entry.type === 'result');
}

test('S10: a server is started, read, waited for and ended by its model', () => {
  team(`      - calls: [{ ${SERVER()} }]
      - calls: [{ bash: { command: "sleep 0.3" } }]
      - calls: [{ bash_output: { id: prc-1 } }]
      - calls: [{ bash_output: { id: prc-1, offset: 3 } }, { bash_wait: { id: prc-1, timeout_ms: 50 } }]
      - calls: [{ bash_kill: { id: prc-1 } }]
      - calls: [{ bash_output: { id: prc-11 } }, { bash: { command: "echo done; exit 3", background: true } }]
      - calls: [{ bash_wait: { id: prc-3 } }]
      - calls: [{ read_file: { path: outputs/prc-1.log } }]
      - calls: [{ complete_task: { summary: served } }]
`);
  const ran = world.troupe('run', '../team.yaml', '--run-id', 'r1');
  expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBe(0);
  const texts = results().map(({ tool, ok, text }) => `${tool} ${ok}: ${text}`);
  expect(texts[0]).toMatch(/^bash true: prc-1 runs in the background/);
  expect(texts[2]).toMatch(/^bash_output true: prc-1 .* is running since [^\n]+\nup\nläuft\n/);
  expect(texts[2]).toContain('[no more output so far; go on with offset 10]');
  expect(texts[3]).toMatch(/\[from byte 3 on\]\nläuft\n/);
  expect(texts[4]).toMatch(/^bash_wait true: .* is running .*; it goes on/);
  expect(texts[5]).toMatch(/^bash_kill true: prc-1 .* was ended at /);
  expect(texts[6]).toMatch(
    /^bash_output false: there is no command "prc-11".*did you mean prc-1\?/,
  );
  expect(texts[8]).toMatch(/^bash_wait true: prc-3 .* ended with exit status 3 at [^\n]+\ndone\n/);
  expect(texts[9]).toBe('read_file true:     1\tup\n    2\tläuft');
  expect(sleepers()).toEqual([]);
  expect(world.troupe('tail', 'ada', '--json').stdout).not.toContain('command.finished');
});

test('S10: what ends by itself is a letter; what is left at the end of a task is ended with it', () => {
  team(`      - calls: [{ bash: { command: "echo built; exit 4", background: true } }, { ${SERVER()} }]
      - any:
          - when: { mail: { type: command.finished } }
            calls: [{ bash: { command: "echo x > made.txt" } }]
          - calls: [{ bash_wait: { id: prc-2, timeout_ms: 200 } }]
      - any:
          - when: { mail: { type: command.finished } }
            calls: [{ complete_task: { summary: served } }]
          - calls: [{ complete_task: { summary: served } }]
`);
  const ran = world.troupe('run', '../team.yaml', '--run-id', 'r1');
  expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBe(0);
  const mail = world
    .troupe('tail', 'ada', '--json')
    .stdout.split('\n')
    .filter((line) => line.includes('command.finished'))
    .map((line) => JSON.parse(line) as MailRow);
  expect(mail).toHaveLength(1);
  expect(mail[0]?.body.text).toMatch(/^The command prc-1 .* exit status 4 .*\nbuilt$/);
  expect(sleepers()).toEqual([]);
});

test('S10: kill -9 of the supervisor leaves none; the next one tells its owner that it was lost', async () => {
  team(`      - calls: [{ ${SERVER()} }]
      - calls: [{ send_message: { to: user, text: the server is up } }]
      - calls: [{ bash_wait: { id: prc-1, timeout_ms: 60000 } }]
      - calls: [{ complete_task: { summary: served } }]
    otherwise: { text: Yes. }
`);
  const killed = world.start('run', '../team.yaml', '--run-id', 'r1');
  await killed.saw('the server is up');
  killed.child.kill('SIGKILL');
  await killed.done;
  const resumed = world.troupe('resume', 'r1');
  expect(resumed.code, `${resumed.stdout}\n${resumed.stderr}`).toBe(0);
  expect(sleepers()).toEqual([]);
  const waits = results().filter(({ tool }) => tool === 'bash_wait');
  expect(waits.at(-1)?.text).toMatch(/^prc-1 .* was lost with the supervisor /);
  const told = world.troupe('tail', 'ada', '--json').stdout;
  expect(told.match(/command\.finished/g)).toHaveLength(1);
  expect(told).toContain('was lost: the supervisor that it ran under ended');
});

test('S10: the end of a run ends what its lead has in the background', () => {
  world.write(
    '../team.yaml',
    `version: 1
name: servers
goal: Serve it
model: scripted/script.yaml
permissions: { default: allow }
`,
  );
  world.write(
    '../script.yaml',
    `version: 1\nsections:\n  - actor: lead\n    turns:\n      - calls: [{ ${SERVER()} }]\n      - text: It runs.\n    otherwise: { text: Yes. }\n`,
  );
  const before = Date.now();
  const ran = world.troupe('run', '../team.yaml', '--run-id', 'r1');
  expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBe(0);
  expect(ran.stdout + ran.stderr).not.toContain('left');
  expect(Date.now() - before).toBeLessThan(20_000);
  expect(sleepers()).toEqual([]);
  expect(JSON.parse(world.troupe('tasks', '--json').stdout) as TaskRow[]).toEqual([]);
});

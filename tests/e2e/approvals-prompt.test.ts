/** The question at the end of the view: keys typed at a real terminal, and what is left of it afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ASKS_TEAM } from './asks-team.ts';
import { makeWorld, type World } from './cli-world.ts';

const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));

let world: World;
let child: ChildProcess | null;

beforeEach(() => {
  world = makeWorld();
  child = null;
  world.write(
    's.yaml',
    `version: 1
sections:
  - actor: ada
    turns:
      - calls: [{ bash: { command: touch a.txt } }]
      - calls: [{ bash: { command: touch b.txt } }]
      - calls: [{ complete_task: { summary: done } }]
`,
  );
  world.write('team.yaml', ASKS_TEAM);
});

afterEach(() => {
  child?.kill('SIGKILL');
  world.remove();
});

interface Terminal {
  type(text: string): void;
  /** Resolves when the text has been shown since the last call. */
  shows(text: string): Promise<void>;
  readonly ended: Promise<string>;
}

/** `script` gives the command a terminal of its own; after it the shell says how the terminal was left. */
function terminal(): Terminal {
  const command = `stty rows 40 cols 120; '${process.execPath}' '${BIN}' run team.yaml --run-id r1; echo "exit=$?"; stty -a | grep -o -- '-\\?icanon\\|-\\?echo ' | tr '\\n' ' '`;
  const started = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd: world.repo,
    env: { ...world.env, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child = started;
  let shown = '';
  let from = 0;
  const checks = new Set<() => void>();
  started.stdout.setEncoding('utf8');
  started.stdout.on('data', (chunk: string) => {
    shown += chunk;
    for (const check of checks) check();
  });
  const ended = new Promise<string>((resolve) => {
    started.on('close', () => resolve(shown));
  });
  return {
    ended,
    type: (text) => started.stdin.write(text),
    shows: (text) =>
      new Promise((resolve) => {
        const check = (): void => {
          const at = shown.indexOf(text, from);
          if (at === -1) return;
          from = at + text.length;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
  };
}

/** A key that comes within the time of grace means nothing, so it is typed until it has an effect. */
async function press(at: Terminal, key: string, effect: string): Promise<void> {
  const timer = setInterval(() => at.type(key), 300);
  at.type(key);
  await at.shows(effect);
  clearInterval(timer);
}

test.runIf(process.platform === 'linux')(
  'P35: keys answer: yes to one, no with a reason to the next, and the terminal is as it was',
  async () => {
    const at = terminal();
    await at.shows('? ada, implementer asks to use bash on task talk');
    await at.shows('y once');
    await press(at, 'y', 'touch b.txt');
    await press(at, 'n', 'No, because');
    at.type('use a.txt');
    await at.shows('use a.txt_');
    at.type('\r');
    const shown = await at.ended;
    expect(shown).toContain('exit=0');
    expect(shown.slice(shown.indexOf('exit=0'))).not.toMatch(/-icanon|-echo /);
    expect(world.git('show', 'troupe/r1/main:a.txt')).toBe('');
    expect(world.git('ls-tree', '--name-only', 'troupe/r1/main')).not.toContain('b.txt');
    expect(world.troupe('session', 'ada', '--run', 'r1').stdout).toContain('denied by user: ');
  },
);

test.runIf(process.platform === 'linux')(
  'P35: Ctrl-C stops the run while a question is shown, and the terminal is as it was',
  async () => {
    const at = terminal();
    await at.shows('y once');
    at.type('\u0003');
    await at.shows('Stopping after SIGINT');
    at.type('\u0003');
    const shown = await at.ended;
    expect(shown).toContain('exit=130');
    expect(shown.slice(shown.indexOf('exit=130'))).not.toMatch(/-icanon|-echo /);
    // The question waits for the next term.
    expect(world.troupe('approvals').stdout).toContain('touch a.txt');
  },
);

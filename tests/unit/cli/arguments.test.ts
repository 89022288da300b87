import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/command-table.ts';
import { tellFailure } from '../../../src/cli/failure.ts';
import type { Io, Output } from '../../../src/cli/io.ts';
import { amount, count, flag, text } from '../../../src/cli/options.ts';
import { runCli } from '../../../src/cli/program.ts';
import { TroupeError } from '../../../src/kernel/errors.ts';

function makeIo(env: Record<string, string> = {}): {
  io: Io;
  out: () => string;
  err: () => string;
} {
  const written = { out: '', err: '' };
  const output = (name: 'out' | 'err'): Output => ({
    isTerminal: false,
    columns: 80,
    rows: 24,
    write: (more) => {
      written[name] += more;
    },
    flush: () => Promise.resolve(),
    onResize: () => () => undefined,
  });
  const io: Io = {
    out: output('out'),
    err: output('err'),
    input: { canRead: () => false, read: () => () => undefined },
    env,
    cwd: '/',
    pid: 1,
    gone: new AbortController().signal,
    onSignal: () => () => undefined,
    onExit: () => () => undefined,
  };
  return { io, out: () => written.out, err: () => written.err };
}

async function cli(...argv: string[]): Promise<{ exit: number; out: string; err: string }> {
  const { io, out, err } = makeIo();
  const exit = await runCli({
    io,
    argv,
    version: () => '1.2.3',
    loadKeeper: () => Promise.reject(new Error('no command may need it here')),
    loadMachine: () => Promise.reject(new Error('no command may need it here')),
  });
  return { exit, out: out(), err: err() };
}

test.each(COMMANDS.map((command) => command.name))(
  '%s has help with an example and costs no machine',
  async (name) => {
    const { exit, out, err } = await cli(name, '--help');
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toContain(`Usage: troupe ${name}`);
    expect(out).toMatch(new RegExp(`Examples:\\n  troupe ${name}`));
    expect(out).toContain('--json');
    expect(out).toContain('--workspace <dir>');
  },
);

test('global options may stand before or after the command', async () => {
  const errorOf = async (...argv: string[]): Promise<unknown> =>
    JSON.parse((await cli(...argv)).out);
  const expected = { error: { code: 'internal' } };
  expect(await errorOf('--json', 'runs')).toMatchObject(expected);
  expect(await errorOf('runs', '--json')).toMatchObject(expected);
});

test('the version and help are on the standard output', async () => {
  expect(await cli('--version')).toEqual({ exit: 0, out: '1.2.3\n', err: '' });
  expect((await cli('help', 'run')).out).toContain('Usage: troupe run');
  expect((await cli('--help')).out).toContain('Commands:');
});

test('a usage error names the help of its command; no command at all is the help', async () => {
  expect((await cli('run')).err).toContain('See `troupe run --help`.');
  expect((await cli('--workspace', 'x', 'diff')).err).toContain('See `troupe diff --help`.');
  const alone = await cli();
  expect(alone).toMatchObject({ exit: 2, out: '' });
  expect(alone.err).toContain('Commands:');
  expect(alone.err).not.toContain('name a command');
});

test('options are read strictly', () => {
  const options = { now: true, from: '12', usd: '0.50', name: 'x' };
  expect([flag(options, 'now'), flag(options, 'later')]).toEqual([true, false]);
  expect([text(options, 'name'), text(options, 'none')]).toEqual(['x', undefined]);
  expect(count(options, 'from', '--from')).toBe(12);
  expect(amount(options, 'usd', '--budget-usd')).toBe(0.5);
  for (const value of ['', '-1', '1e9', 'Infinity', 'NaN', '0', '1 2']) {
    expect(() => amount({ usd: value }, 'usd', '--budget-usd')).toThrow('--budget-usd');
  }
  for (const value of ['', '-1', '1.5', 'x', '1'.repeat(16)]) {
    expect(() => count({ from: value }, 'from', '--from')).toThrow('--from');
  }
});

const failure = new TroupeError({
  code: 'x/y',
  message: 'bad\u001B[31m',
  hint: 'two\nlines',
  exit: 5,
  data: { files: ['a'], secret: 1 },
});

test('people get a message and a hint without escape sequences, programs one document', () => {
  const people = makeIo();
  expect(tellFailure(people.io, failure, false)).toBe(5);
  expect(people.err()).toBe('troupe: bad\\u{1b}[31m\n  two\n  lines\n');
  const program = makeIo();
  tellFailure(program.io, failure, true);
  expect(JSON.parse(program.out())).toEqual({
    error: { code: 'x/y', message: 'bad\u001B[31m', hint: 'two\nlines' },
    files: ['a'],
  });
  expect(program.err()).toBe('');
});

test('a bug says that it is one; its stack shows only with TROUPE_DEBUG=1', () => {
  const quiet = makeIo();
  expect(tellFailure(quiet.io, new TypeError('x of undefined'), false)).toBe(1);
  expect(quiet.err()).toContain('This is a bug');
  expect(quiet.err()).not.toContain('arguments.test.ts');
  const loud = makeIo({ TROUPE_DEBUG: '1' });
  tellFailure(loud.io, new TypeError('x of undefined'), false);
  expect(loud.err()).toContain('arguments.test.ts');
});

test('failures of the system are told in words, a full disk is exit 75', () => {
  const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
  const { io, err } = makeIo();
  expect(tellFailure(io, full, false)).toBe(75);
  expect(err()).toContain('troupe: the disk is full');
});

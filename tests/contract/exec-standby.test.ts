/** S: a namespace that stands ready runs one command as it was asked for, or nothing, and dies with whoever made it. */
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Launched } from '../../src/platform/exec-launch.ts';
import { Standby, type StandbyCommand } from '../../src/platform/exec-standby.ts';
import { findWrappers, type Wrapper } from '../../src/platform/index.ts';
import { readStat } from '../../src/platform/process-table.ts';
import { eventually, gone, lives, marked } from './exec-support.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-standby-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const [wrapper] = (await findWrappers()).filter((one) => one.standby !== undefined);

describe.skipIf(wrapper === undefined)('a namespace that stands ready', () => {
  if (wrapper === undefined) return;
  let count = 0;

  async function command(argv: readonly [string, ...string[]]): Promise<StandbyCommand> {
    count += 1;
    const outputPath = join(folder, `it's ${count}.log`);
    await writeFile(outputPath, 'before\n');
    return { argv, cwd: folder, env: { PATH: '/usr/bin:/bin' }, outputPath };
  }

  async function taken(standby: Standby, what: StandbyCommand): Promise<Launched> {
    await standby.prepare(wrapper as Wrapper);
    const launched = standby.take(wrapper as Wrapper, what);
    if (launched === null) throw new Error('nothing stood ready');
    return launched;
  }

  it('passes words, environment, folder and exit code on as they are, and adds to the output', async () => {
    const words = ["it's", 'a\nb', '$(id) `id` "x" \\', ' | ; &', '', 'é\u0081\u0085日本𝄞', '-n'];
    const script = 'printf "%s\\0" "$@"; env -0 | sort -z; pwd; cat; exit 9';
    const what = await command(['/bin/sh', '-c', script, 'x', ...words]);
    const env = { PATH: '/usr/bin:/bin', EMPTY: '', A: "it's\n$HOME", 'no-name': 'x' };
    const { ended } = await taken(new Standby(), { ...what, env });
    expect(await ended).toEqual({ code: 9, signal: null });
    const told = [`A=${env.A}`, 'EMPTY=', `PATH=${env.PATH}`, `PWD=${folder}`];
    const expected = [...words, ...told].map((text) => `${text}\0`).join('');
    expect(await readFile(what.outputPath, 'utf8')).toBe(`before\n${expected}${folder}\n`);
  });

  it('takes a command of the greatest size', async () => {
    const script = `printf %s "$(printf %s '${'ü '.repeat(40_000)}' | wc -c)"`;
    const what = await command(['/bin/sh', '-c', script]);
    const { ended } = await taken(new Standby(), what);
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(await readFile(what.outputPath, 'utf8')).toBe('before\n120000');
  });

  it('starts what no program is with the code of a shell, and what a signal ends with 128 and its number', async () => {
    const standby = new Standby();
    const missing = await taken(standby, await command(['/nowhere/at-all']));
    expect(await missing.ended).toEqual({ code: 127, signal: null });
    const killed = await taken(standby, await command(['/bin/sh', '-c', 'kill -SEGV $$']));
    expect(await killed.ended).toEqual({ code: 139, signal: null });
  });

  it('lets a command that signals its group end itself and nothing else', async () => {
    const what = await command(['/bin/sh', '-c', 'trap "exit 4" TERM; kill 0; sleep 60']);
    const { ended } = await taken(new Standby(), what);
    expect(await ended).toEqual({ code: 4, signal: null });
  });

  it('serves one command, and ends with all that the command started', async () => {
    const mark = `standby-${process.pid}-stray`;
    const standby = new Standby();
    const what = await command(['/bin/sh', '-c', `setsid sleep 60 & : ${mark}`]);
    const { ended, init } = await taken(standby, { ...what, env: { MARK: mark } });
    expect(standby.take(wrapper, what)).toBeNull();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(marked(mark)).toEqual([]);
    expect(lives(init?.pid ?? 0)).toBe(false);
  });

  it('waits on when a command can only be started by itself', async () => {
    const standby = new Standby();
    const what = await command(['/bin/true']);
    const refused: Partial<StandbyCommand>[] = [
      { env: { OPTIND: 'x' } },
      { argv: ['/bin/echo', 'a\0b'] },
      { cwd: join(folder, 'missing') },
      { cwd: what.outputPath },
    ];
    await standby.prepare(wrapper);
    for (const over of refused) expect(standby.take(wrapper, { ...what, ...over })).toBeNull();
    expect(await standby.take(wrapper, what)?.ended).toEqual({ code: 0, signal: null });
  });

  it('is ended and not used when it is too old', async () => {
    const standby = new Standby(0);
    const pid = await newcomer(() => standby.prepare(wrapper));
    expect(standby.take(wrapper, await command(['/bin/true']))).toBeNull();
    await gone(pid);
  });

  it('is not used when it died while it stood', async () => {
    const standby = new Standby();
    const pid = await newcomer(() => standby.prepare(wrapper));
    process.kill(pid, 'SIGKILL');
    await gone(pid);
    // Node hears of the end a moment after the kernel knows.
    await eventually('its end', () => (children().includes(pid) ? undefined : true));
    await new Promise(setImmediate);
    expect(standby.take(wrapper, await command(['/bin/true']))).toBeNull();
  });
});

/** The only process that this one starts meanwhile. */
async function newcomer(start: () => Promise<void>): Promise<number> {
  const before = new Set(children());
  await start();
  const [pid, ...more] = children().filter((one) => !before.has(one));
  expect(more).toEqual([]);
  return pid ?? 0;
}

/** Zombies too: those whose end nobody has taken note of yet. */
function children(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && readStat(pid)?.ppid === process.pid);
}

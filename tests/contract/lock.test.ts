import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Files, systemCode } from '../../src/kernel/index.ts';
import {
  acquireLock,
  CryptoRandom,
  type Liveness,
  type Lock,
  type LockDeps,
  type LockHolder,
  NodeFiles,
  NodeProcessTable,
  type ProcessIdentity,
  readLockHolder,
  SystemClock,
} from '../../src/platform/index.ts';
import { MemoryFiles, SeededRandom } from '../../src/testing/index.ts';
import { bundlePlatform } from './exec-bundle.ts';
import { eventually, lives } from './exec-support.ts';

let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-lock-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

function freshDirectory(): string {
  count += 1;
  return join(folder, String(count));
}

/** Processes of a machine that the test has made up. */
class Machine {
  readonly alive = new Map<number, string>();

  join(pid: number, startTime: string): Pick<LockDeps, 'processes'> {
    this.alive.set(pid, startTime);
    const identity: ProcessIdentity = { pid, startTime, bootId: 'boot', pidNamespace: 'ns' };
    return {
      processes: {
        self: async () => identity,
        liveness: async (other): Promise<Liveness> => {
          if (other.bootId !== 'boot') return 'dead';
          if (other.pidNamespace !== 'ns') return 'unseen';
          return this.alive.get(other.pid) === other.startTime ? 'alive' : 'dead';
        },
      },
    };
  }
}

function lockOf(result: Awaited<ReturnType<typeof acquireLock>>): Lock {
  if ('heldBy' in result) throw new Error(`held by ${String(result.heldBy.pid)}`);
  return result;
}

function holderOf(result: Awaited<ReturnType<typeof acquireLock>>): LockHolder {
  if ('heldBy' in result) return result.heldBy;
  throw new Error('taken');
}

const subjects: Record<string, () => Files> = {
  NodeFiles: () => new NodeFiles(),
  MemoryFiles: () => new MemoryFiles(),
};

describe.each(Object.entries(subjects))('lock on %s', (_name, makeFiles) => {
  function setUp(): { machine: Machine; base: Omit<LockDeps, 'processes'>; directory: string } {
    const base = { files: makeFiles(), clock: new SystemClock(), random: new SeededRandom(count) };
    return { machine: new Machine(), base, directory: freshDirectory() };
  }

  it('is held by one, who is named to the other, until it is released', async () => {
    const { machine, base, directory } = setUp();
    const first = { ...base, ...machine.join(10, 'a') };
    const second = { ...base, ...machine.join(11, 'b') };
    expect(await readLockHolder(first, directory)).toBeNull();
    const lock = lockOf(await acquireLock(first, directory));
    const heldBy = holderOf(await acquireLock(second, directory));
    expect(heldBy).toMatchObject({ pid: 10, startTime: 'a', certain: true, path: lock.path });
    expect(heldBy.acquiredAt).toMatch(/^20\d\d-.*Z$/u);
    expect(await readLockHolder(second, directory)).toEqual(heldBy);
    await lock.release();
    await lock.release();
    expect(await base.files.list(directory)).toEqual([]);
    await lockOf(await acquireLock(second, directory)).release();
  });

  it('is not taken twice by the same process', async () => {
    const { machine, base, directory } = setUp();
    const deps = { ...base, ...machine.join(10, 'a') };
    lockOf(await acquireLock(deps, directory));
    expect(holderOf(await acquireLock(deps, directory)).pid).toBe(10);
  });

  it('is taken over from the dead, also when their pid is used again', async () => {
    const { machine, base, directory } = setUp();
    const dead = { ...base, ...machine.join(10, 'a') };
    const left = lockOf(await acquireLock(dead, directory));
    machine.alive.delete(10);
    const second = lockOf(await acquireLock({ ...base, ...machine.join(11, 'b') }, directory));
    machine.alive.set(11, 'reused');
    const third = lockOf(await acquireLock({ ...base, ...machine.join(12, 'c') }, directory));
    expect(await base.files.list(directory)).toEqual([third.path.split('/').at(-1)]);
    // What the dead left to do does no harm.
    await left.release();
    await second.release();
    expect((await readLockHolder(dead, directory))?.pid).toBe(12);
  });

  it('is left alone when its holder cannot be seen, and says so', async () => {
    const { machine, base, directory } = setUp();
    const deps = { ...base, ...machine.join(10, 'a') };
    await base.files.makeDirectory(directory);
    await put(base.files, join(directory, 'lock.4'), {
      pid: 1,
      startTime: '5',
      bootId: 'boot',
      pidNamespace: 'container',
    });
    expect(holderOf(await acquireLock(deps, directory))).toMatchObject({ pid: 1, certain: false });
    await base.files.remove(join(directory, 'lock.4'));
    await put(base.files, join(directory, 'lock.7'), {
      pid: 1,
      startTime: '5',
      bootId: 'earlier',
      pidNamespace: 'container',
    });
    const lock = lockOf(await acquireLock(deps, directory));
    expect(lock.path).toBe(join(directory, 'lock.8'));
    expect(await base.files.list(directory)).toEqual(['lock.8']);
  });

  it('clears away what contenders left that died before they had it', async () => {
    const { machine, base, directory } = setUp();
    await base.files.makeDirectory(directory);
    await put(base.files, join(directory, 'lock.new-x'), {});
    lockOf(await acquireLock({ ...base, ...machine.join(10, 'a') }, directory));
    expect(await base.files.list(directory)).toEqual(['lock.1']);
  });

  it('is not guessed at when its file is damaged', async () => {
    const { machine, base, directory } = setUp();
    await base.files.makeDirectory(directory);
    const handle = await base.files.open(join(directory, 'lock.1'), 'create');
    await handle.close();
    const taken = acquireLock({ ...base, ...machine.join(10, 'a') }, directory);
    expect(await taken.then(() => 'taken', systemCode)).toBe('lock/unreadable');
  });

  it('goes to at most one of many who come at once, over and over', async () => {
    const { machine, base, directory } = setUp();
    for (let round = 0; round < 10; round += 1) {
      const contenders = Array.from({ length: 12 }, (_, index) => ({
        ...base,
        ...machine.join(100 + index, String(round)),
      }));
      const results = await Promise.all(contenders.map((deps) => acquireLock(deps, directory)));
      const locks = results.filter((result) => !('heldBy' in result));
      expect(locks.length).toBe(1);
      // Every second round the winner is killed instead of giving it back.
      if (round % 2 === 0) await Promise.all(locks.map((lock) => lockOf(lock).release()));
    }
  });

  async function put(files: Files, path: string, identity: object): Promise<void> {
    const handle = await files.open(path, 'create');
    const file = { ...identity, acquiredAt: '2026-01-01T00:00:00.000Z', nonce: 'n' };
    handle.write(new TextEncoder().encode(JSON.stringify(file)));
    await handle.close();
  }
});

describe('NodeProcessTable', () => {
  const table = new NodeProcessTable();

  it('knows the living from the dead, the reborn and the zombies', async () => {
    const self = await table.self();
    expect(await table.liveness(self)).toBe('alive');
    expect(await table.liveness({ ...self, startTime: '1' })).toBe('dead');
    expect(await table.liveness({ ...self, bootId: 'another' })).toBe('dead');
    expect(await table.liveness({ ...self, pid: 2 ** 22 + 1 })).toBe('dead');
  });

  it.skipIf(process.platform !== 'linux')('takes a zombie for dead', async () => {
    // The shell becomes a program that does not wait for the child it has; only then may the child end.
    const parent = spawn('sh', ['-c', 'exec 3<&0; (read x <&3) & echo $!; exec sleep 60'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const pid = Number(await firstLine(parent));
    const self = await table.self();
    const comm = `/proc/${String(parent.pid)}/comm`;
    await eventually('sleep', () => (readFileSync(comm, 'utf8') === 'sleep\n' ? true : undefined));
    expect(await table.liveness({ ...self, pid, startTime: '' })).toBe('alive');
    parent.stdin.end('\n');
    await eventually('a zombie', () => (lives(pid) ? undefined : true));
    process.kill(pid, 0);
    expect(await table.liveness({ ...self, pid, startTime: '' })).toBe('dead');
    parent.kill('SIGKILL');
  });

  it.skipIf(process.platform !== 'linux')('cannot tell about another namespace', async () => {
    const self = await table.self();
    expect(await table.liveness({ ...self, pidNamespace: 'pid:[1]' })).toBe('unseen');
  });
});

describe('lock between processes', () => {
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  let bundle: string;
  beforeAll(async () => {
    bundle = await bundlePlatform(join(folder, 'bundle'));
  });

  /** Takes the lock when its stdin says so, tells the result, and holds it until it is killed. */
  const CONTENDER = `
const { acquireLock, CryptoRandom, NodeFiles, NodeProcessTable, SystemClock } =
  await import(process.argv[1]);
const deps = {
  files: new NodeFiles(),
  clock: new SystemClock(),
  random: new CryptoRandom(),
  processes: new NodeProcessTable(),
};
console.log('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
const result = await acquireLock(deps, process.argv[2]);
console.log('heldBy' in result ? 'held ' + result.heldBy.pid : 'won');
setInterval(() => undefined, 1000);
`;

  function contender(directory: string): ChildProcess {
    const args = ['--input-type=module', '-e', CONTENDER, bundle, directory];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    started.push(child);
    return child;
  }

  it('goes to exactly one of twelve processes, also after the winner is killed', async () => {
    const directory = freshDirectory();
    for (let round = 0; round < 2; round += 1) {
      const contenders = Array.from({ length: 12 }, () => contender(directory));
      await Promise.all(contenders.map((child) => firstLine(child)));
      const answers = contenders.map((child) => firstLine(child));
      for (const child of contenders) child.stdin?.write('go\n');
      const said = await Promise.all(answers);
      const winner = contenders[said.indexOf('won')];
      expect(said.filter((answer) => answer === 'won')).toEqual(['won']);
      expect(new Set(said.filter((answer) => answer !== 'won'))).toEqual(
        new Set([`held ${String(winner?.pid)}`]),
      );
      const ends = contenders.map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of contenders) child.kill('SIGKILL');
      await Promise.all(ends);
    }
    expect((await readdir(directory)).length).toBe(1);
  });

  it('is taken over when the pid of its dead holder is in use again', async () => {
    const directory = freshDirectory();
    const deps: LockDeps = {
      files: new NodeFiles(),
      clock: new SystemClock(),
      random: new CryptoRandom(),
      processes: new NodeProcessTable(),
    };
    const self = await deps.processes.self();
    await deps.files.makeDirectory(directory);
    // Our own pid, alive for sure, but of a process that started at another time.
    const left = { ...self, startTime: '1', acquiredAt: '2026-01-01T00:00:00.000Z', nonce: 'n' };
    await writeFile(join(directory, 'lock.3'), JSON.stringify(left));
    const lock = lockOf(await acquireLock(deps, directory));
    expect(await readdir(directory)).toEqual(['lock.4']);
    await lock.release();
  });
});

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.once('data', (chunk: Buffer) => {
      resolve(chunk.toString('utf8').trim());
    });
  });
}

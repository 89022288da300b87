/** A real supervisor on real files, git and processes, whose actors run inline: all but threads, for tests of a run. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ActorHost, type ActorRun, InlineHost } from '../../src/actors/index.ts';
import {
  CryptoRandom,
  NodeExec,
  NodeFiles,
  StructuredCodec,
  SystemClock,
  sha256Hex,
} from '../../src/platform/index.ts';
import type { RunFile, StoredRunRecord } from '../../src/protocol/index.ts';
import { openSupervisor, type Supervisor } from '../../src/supervisor/index.ts';
import type { TempRepo } from './repo.ts';

export interface Inline {
  readonly supervisor: Supervisor;
  /** All records that became durable, in order. */
  readonly records: StoredRunRecord[];
  readonly logs: readonly { readonly message: string; readonly data: unknown }[];
  /** `<common git directory>/troupe`. */
  readonly directory: string;
  /** Writes `run.json`, as the command line does before a start. */
  prepare(file: RunFile): void;
}

/** `host`: real threads instead. */
export async function inlineSupervisor(
  repo: TempRepo,
  run?: ActorRun,
  threads?: ActorHost,
  passivateMs?: number,
): Promise<Inline> {
  const clock = new SystemClock();
  const logs: Inline['logs'][number][] = [];
  const repository = await repo.open();
  const directory = join(repository.commonDir, 'troupe');
  const host =
    threads ??
    new InlineHost({
      clock,
      run: run ?? (() => Promise.reject(new Error('this team has no actors'))),
    });
  const supervisor = await openSupervisor({
    files: new NodeFiles(),
    clock,
    random: new CryptoRandom(),
    exec: new NodeExec(),
    logger: {
      log: (level, message, data) => {
        logs.push({ message, data });
        if (level === 'error') process.stderr.write(`${message} ${JSON.stringify(data)}\n`);
      },
    },
    repository,
    directory,
    hosts: { thread: host, pool: host },
    environment: { PATH: process.env['PATH'] ?? '', HOME: repo.home },
    shell: { file: '/bin/bash', args: ['--noprofile', '--norc', '-c'] },
    pid: process.pid,
    sha256: sha256Hex,
    codec: new StructuredCodec(),
    version: 'test',
    ...(passivateMs === undefined ? {} : { passivateMs }),
  });
  const records: StoredRunRecord[] = [];
  supervisor.onRecord((_run, record) => records.push(record));
  return {
    supervisor,
    records,
    logs,
    directory,
    prepare: (file) => {
      mkdirSync(join(directory, 'runs', file.id), { recursive: true });
      writeFileSync(join(directory, 'runs', file.id, 'run.json'), JSON.stringify(file));
    },
  };
}

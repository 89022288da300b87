/**
 * The process host (design §3): every command of a run is started here, from the main thread, over `Exec`. Its whole
 * output goes to `outputs/<id>.log`; its end is reported once, when all its descendants are gone or named.
 */
import {
  asProcId,
  type Clock,
  type Exec,
  ensureError,
  type Files,
  type ProcId,
  type RefusedHost,
  type SandboxProfile,
  type SandboxRequest,
  type SpawnedProcess,
} from '../../kernel/index.ts';
import { PROTECTED_IN_TREE } from '../../permissions/index.ts';
import type { CommandOutcome, OutputPage } from '../inbox.ts';
import {
  KILL_GRACE_MS,
  OUTPUT_HEAD_BYTES,
  OUTPUT_MAX_BYTES,
  OUTPUT_TAIL_BYTES,
} from '../limits.ts';
import { requireStorage } from './failures.ts';
import { readPage } from './output-page.ts';

export interface CommandRequest {
  readonly id: ProcId;
  readonly command: string;
  /** Root of the tree that it works in. */
  readonly cwd: string;
  readonly writable: boolean;
  readonly by: SandboxProfile;
  readonly timeoutMs: number;
  readonly tailOnly: boolean;
  readonly background?: boolean | undefined;
}

/** What the sandbox of a run's commands has in common; null: there is none. */
export type RunSandbox = Pick<
  SandboxRequest,
  'workspace' | 'gitDirectory' | 'closed' | 'read' | 'write' | 'hosts'
>;

export interface ProcessHostDeps {
  readonly exec: Exec;
  readonly files: Files;
  readonly clock: Clock;
  /** The cleaned environment of commands; no key of a provider is in it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Shell that runs what people and models write, without start files. */
  readonly shell: { readonly file: string; readonly args: readonly string[] };
  /** Of the repository: runs of other repositories may have the same name. */
  readonly scope: string;
  readonly run: string;
  readonly outputsDirectory: string;
  readonly sandbox: RunSandbox | null;
}

export class ProcessHost {
  private readonly deps: ProcessHostDeps;
  private readonly running = new Map<ProcId, { process: SpawnedProcess; killed: boolean }>();
  private readonly cancelled = new Set<ProcId>();
  /** From the call of `run` to its outcome. */
  private readonly active = new Set<Promise<CommandOutcome>>();
  /** Those of them that nothing waits for. */
  private readonly background = new Map<
    ProcId,
    { readonly cwd: string; readonly work: Promise<CommandOutcome> }
  >();
  private setups = 0;
  private closed = false;

  constructor(deps: ProcessHostDeps) {
    this.deps = deps;
  }

  /** Rejects only when the disk takes nothing more. */
  run(request: CommandRequest): Promise<CommandOutcome> {
    const work = this.runOne(request);
    const { id, cwd, background } = request;
    if (background === true) this.background.set(id, { cwd, work });
    else this.active.add(work);
    return work.finally(() => {
      this.active.delete(work);
      this.background.delete(id);
    });
  }

  private async runOne(request: CommandRequest): Promise<CommandOutcome> {
    const { clock, exec } = this.deps;
    const began = clock.monotonicMs();
    const path = `${this.deps.outputsDirectory}/${request.id}.log`;
    let process: SpawnedProcess;
    if (this.closed) return failed('the run is stopping');
    try {
      process = await exec.spawn({
        file: this.deps.shell.file,
        args: [...this.deps.shell.args, request.command],
        cwd: request.cwd,
        env: { ...this.deps.environment, TROUPE_SCOPE: this.deps.scope },
        outputPath: path,
        outputMax: OUTPUT_MAX_BYTES,
        marker: `${markerOf(this.deps)}/${request.id}`,
        sandbox: this.sandboxOf(request),
      });
    } catch (thrown) {
      requireStorage(thrown);
      return failed(ensureError(thrown).message);
    }
    const entry = { process, killed: this.closed || this.cancelled.delete(request.id) };
    this.running.set(request.id, entry);
    if (entry.killed) process.kill(0);
    const deadline = new AbortController();
    let timedOut = false;
    const timer = clock.sleep(request.timeoutMs, deadline.signal).then(
      () => {
        timedOut = true;
        process.kill(KILL_GRACE_MS);
      },
      () => undefined,
    );
    const exit = await process.exited;
    deadline.abort();
    await timer;
    this.running.delete(request.id);
    const output = await this.read(path, request.tailOnly);
    const text =
      output.text + tellSetAside(exit.setAside ?? [], request.id) + tellRefused(exit.refused ?? []);
    return {
      code: exit.code,
      signal: exit.signal,
      why: timedOut ? 'timeout' : exit.overflow ? 'overflow' : entry.killed ? 'killed' : 'exit',
      left: exit.left,
      text,
      cut: output.cut,
      durationMs: clock.monotonicMs() - began,
    };
  }

  /** The setup commands of a tree, in order; null when all succeeded. */
  async setup(
    commands: readonly string[],
    tree: { readonly path: string; readonly owner: string; readonly timeoutMs: number },
  ): Promise<string | null> {
    for (const command of commands) {
      this.setups += 1;
      const id = asProcId(`setup-${tree.owner}-${this.setups}`);
      const outcome = await this.run({
        id,
        command,
        cwd: tree.path,
        writable: true,
        by: 'setup',
        timeoutMs: tree.timeoutMs,
        tailOnly: true,
      });
      if (outcome.code !== 0 || outcome.why !== 'exit') {
        return `The setup command \`${command}\` of the tree failed (${outcome.why === 'exit' ? `exit ${outcome.code ?? outcome.signal ?? '?'}` : outcome.why}):\n${outcome.text.trimEnd()}`;
      }
    }
    return null;
  }

  kill(id: ProcId): void {
    const entry = this.running.get(id);
    if (entry === undefined) {
      this.cancelled.add(id);
      return;
    }
    entry.killed = true;
    entry.process.kill(KILL_GRACE_MS);
  }

  /** Ends what runs in the background in this folder; resolves when it is gone. */
  async clear(folder: string): Promise<void> {
    const there = [...this.background].filter(([, { cwd }]) => isWithin(cwd, folder));
    for (const [id] of there) this.kill(id);
    await Promise.allSettled(there.map(([, { work }]) => work));
  }

  /** A page of a command's output; `offset` null: its end. */
  readPage(id: ProcId, offset: number | null): Promise<OutputPage> {
    return readPage(this.deps.files, `${this.deps.outputsDirectory}/${id}.log`, offset);
  }

  /** Resolves when nothing runs but in the background, also nothing that was started meanwhile. */
  async idle(): Promise<void> {
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  /** Ends everything; resolves with the pids that could not be ended. Nothing can be started afterwards. */
  async close(graceMs: number): Promise<readonly number[]> {
    this.closed = true;
    const ends = [...this.running.values()].map(async (entry) => {
      entry.killed = true;
      entry.process.kill(Math.min(graceMs, KILL_GRACE_MS));
      return (await entry.process.exited).left;
    });
    const left = (await Promise.all(ends)).flat();
    // One that was being started when this began has killed itself by now.
    await this.idle();
    await Promise.allSettled([...this.background.values()].map(({ work }) => work));
    const swept = await this.deps.exec.sweep(markerOf(this.deps));
    return [...new Set([...left, ...swept])];
  }

  private sandboxOf(request: CommandRequest): SandboxRequest | undefined {
    const { sandbox, outputsDirectory } = this.deps;
    if (sandbox === null) return undefined;
    return {
      ...sandbox,
      profile: request.by,
      tree: request.cwd,
      writable: request.writable,
      // A person's command may write editor settings and the like; Troupe's own folder nobody's may.
      protect: request.by === 'actor' ? PROTECTED_IN_TREE : ['.troupe'],
      setAside: `${outputsDirectory}/${request.id}.aside`,
    };
  }

  private async read(path: string, tailOnly: boolean): Promise<{ text: string; cut: boolean }> {
    const handle = await this.deps.files.open(path, 'read').catch(() => null);
    if (handle === null) return { text: '', cut: false };
    try {
      const size = await handle.size();
      const head = tailOnly ? 0 : OUTPUT_HEAD_BYTES;
      if (size <= head + OUTPUT_TAIL_BYTES) {
        return { text: decode(await handle.read(0, size)), cut: false };
      }
      const first = decode(await handle.read(0, head));
      const last = decode(await handle.read(size - OUTPUT_TAIL_BYTES, OUTPUT_TAIL_BYTES));
      const left = size - head - OUTPUT_TAIL_BYTES;
      return { text: `${first}\n… ${left} bytes left out …\n${last}`, cut: true };
    } finally {
      await handle.close();
    }
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function tellSetAside(names: readonly string[], id: ProcId): string {
  if (names.length === 0) return '';
  return `\n[sandbox: ${names.join(', ')} was moved out of the tree, to outputs/${id}.aside: other programs run or obey it later. Make it with write_file, which a person can allow.]`;
}

function tellRefused(hosts: readonly RefusedHost[]): string {
  if (hosts.length === 0) return '';
  const why = hosts.map((one) => one.why).join('; ');
  const line = `sandbox: { network: { allow: [${hosts.map(({ add }) => JSON.stringify(add)).join(', ')}] } }`;
  return `\n[sandbox: ${why}. Only a person can open more, in the team file or in the config of their home: ${line}]`;
}

/** Covers every process of a run. */
export function markerOf(of: { readonly scope: string; readonly run: string }): string {
  return `${of.scope}/${of.run}`;
}

function failed(text: string): CommandOutcome {
  return { code: null, signal: null, why: 'failed', left: [], text, cut: false, durationMs: 0 };
}

const utf8 = new TextDecoder();
function decode(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

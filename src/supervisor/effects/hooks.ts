/**
 * Runs hooks, one after the other, each in a process group of its own with a deadline and a cap on what it says. They work in
 * the user's checkout, never in a tree that a model writes, and get what they look at on their standard input alone.
 */
import { type Clock, type Exec, ensureError, isoTime } from '../../kernel/index.ts';
import type { Hook, RunFile } from '../../protocol/index.ts';
import type { Effect } from '../effect.ts';
import { readHookAnswer } from '../hook-answer.ts';
import type { HookSaid, HookWork } from '../hooks.ts';
import type { RunEvent } from '../inbox.ts';
import { HOOK_OUTPUT_MAX } from '../limits.ts';
import { markerOf } from './commands.ts';

export interface HookRunnerDeps {
  readonly exec: Exec;
  readonly clock: Clock;
  /** The cleaned environment of commands; no key of a provider is in it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly shell: { readonly file: string; readonly args: readonly string[] };
  readonly repository: { readonly hash: string };
}

export class HookRunner {
  private readonly deps: HookRunnerDeps;
  private readonly running = new Map<string, { on: HookWork['on']; stop: AbortController }>();
  private readonly active = new Set<Promise<unknown>>();
  private closed = false;

  private readonly file: Pick<RunFile, 'id' | 'workspace'>;

  constructor(deps: HookRunnerDeps, file: Pick<RunFile, 'id' | 'workspace'>) {
    this.deps = deps;
    this.file = file;
  }

  /**
   * Runs them and posts what they said, after the record `seq`: with the request that waits, and what they made of it, or by
   * itself. Never rejects.
   */
  async take(
    effect: Extract<Effect, { type: 'hooks.run' | 'hooks.cancel' }>,
    seq: number,
    post: (event: RunEvent) => void,
  ): Promise<void> {
    if (effect.type === 'hooks.cancel') {
      this.running.get(effect.id)?.stop.abort();
      return;
    }
    const { work } = effect;
    const said = await this.run(work);
    const { request } = work;
    if (request === undefined) {
      const report = { work: work.id, pass: 0, said };
      post({ type: 'hooks.ended', work, report, seq });
      return;
    }
    const { name, incarnation, epoch, id, asked, pass } = request;
    const last = said.at(-1);
    const rewritten = last?.outcome === 'rewrite';
    const upward = { id, request: rewritten ? { ...asked, input: last.input } : asked };
    const hooked = { work: work.id, pass: rewritten ? pass + 1 : pass, said };
    post({ type: 'request', name, incarnation, epoch, upward, hooked });
  }

  /** Ends with the first that denies, or that wants another input. */
  private run(work: HookWork): Promise<readonly HookSaid[]> {
    const all = this.runAll(work);
    this.active.add(all);
    return all.finally(() => this.active.delete(all));
  }

  /** Resolves when none runs. */
  async idle(): Promise<void> {
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  private async runAll(work: HookWork): Promise<readonly HookSaid[]> {
    const stop = new AbortController();
    this.running.set(work.id, { on: work.on, stop });
    // Of the end of the run somebody may still be told.
    if (this.closed && work.on !== 'run_finished') stop.abort();
    const said: HookSaid[] = [];
    try {
      for (const hook of work.hooks) {
        const one = await this.runOne(hook, work, stop.signal);
        said.push(one);
        if (one.outcome === 'deny' || one.outcome === 'rewrite') break;
      }
    } finally {
      this.running.delete(work.id);
    }
    return said;
  }

  /** What runs is ended, and nothing more is run, but for `run_finished`. */
  close(): void {
    this.closed = true;
    for (const { on, stop } of this.running.values()) if (on !== 'run_finished') stop.abort();
  }

  private async runOne(hook: Hook, work: HookWork, signal: AbortSignal): Promise<HookSaid> {
    const { exec, clock, shell, environment, repository } = this.deps;
    const { id: run, workspace: cwd } = this.file;
    const scope = repository.hash;
    const began = clock.monotonicMs();
    const tell = (said: Omit<HookSaid, 'hook' | 'ms'>): HookSaid => ({
      ...said,
      hook: hook.id,
      ms: Math.round(clock.monotonicMs() - began),
    });
    const marker = `hook-${work.id}-${hook.id}`;
    try {
      const result = await exec.run(
        {
          file: shell.file,
          args: [...shell.args, hook.run],
          cwd,
          env: { ...environment, TROUPE_SCOPE: scope, TROUPE_PROC: `${run}/${marker}` },
          stdin: `${JSON.stringify(this.payloadOf(hook, work))}\n`,
          timeoutMs: hook.timeoutMs,
          outputMax: HOOK_OUTPUT_MAX,
        },
        signal,
      );
      // Who hung may have left the process group before.
      if (result.timedOut) await exec.sweep(`${markerOf({ scope, run })}/${marker}`);
      return tell(readHookAnswer(result));
    } catch (thrown) {
      return tell({ outcome: 'failed', reason: ensureError(thrown).message });
    }
  }

  private payloadOf(hook: Hook, work: HookWork): Readonly<Record<string, unknown>> {
    const { on, actor, call, tool, task, ask, payload } = work;
    const { id: run, workspace } = this.file;
    return {
      event: on,
      hook: hook.id,
      run,
      workspace,
      at: isoTime(this.deps.clock.now()),
      actor,
      task,
      call,
      tool,
      ask,
      ...payload,
    };
  }
}

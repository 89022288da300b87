/**
 * The supervisor: owns the runs of one repository in this process. Whoever opens it holds the repository's lock. What
 * outlives a run is in the workspace journal; each run has a journal and a loop of its own.
 */
import type { Journal } from '../journal/index.ts';
import { asTaskId, EXIT, isoTime, TroupeError } from '../kernel/index.ts';
import { MemoryStore } from '../memory/index.ts';
import type {
  ActorRow,
  Budget,
  Grant,
  Lane,
  RunFile,
  RunRow,
  StoredRunRecord,
  TrustRecord,
} from '../protocol/index.ts';

import { AuditBook } from './audit-book.ts';
import type {
  AnsweredAsk,
  AskReply,
  Begun,
  DecidePlan,
  LiveEvent,
  PlanDecision,
  RunWord,
  SendReceipt,
  SendRequest,
  Supervisor,
  SupervisorDeps,
} from './contract.ts';

import { jobsOfRun } from './cron/author.ts';
import { makeScheduler, setAsideDamaged } from './cron/open.ts';
import type { CronScheduler } from './cron/scheduler.ts';
import { markerOf } from './effects/commands.ts';
import { notHere } from './errors.ts';
import { GrantBook } from './grants.ts';
import { WORKSPACE_SLACK_BYTES } from './limits.ts';
import { type CompactWish, type Liveness, NOT_ALIVE } from './live.ts';
import type { RunLoop } from './loop.ts';
import { openRun } from './open-run.ts';
import { Packer } from './packer.ts';
import { actorRows, livenessIn, runRow } from './rows.ts';
import { readRunFile } from './run-files.ts';
import { requireSandbox } from './run-sandbox.ts';
import { ingestSpool } from './spool.ts';
import type { RunState } from './state.ts';
import { removeEmpty } from './tree-folder.ts';
import { TreeKeeper } from './trees/keeper.ts';
import { WorkspaceChain } from './workspace-chain.ts';
import { openWorkspaceJournal } from './workspace-journal.ts';

export async function openSupervisor(deps: SupervisorDeps): Promise<Supervisor> {
  const book = new GrantBook(deps.clock);
  const chain = new WorkspaceChain();
  const trees = new TreeKeeper(deps);
  let supervisor: RunningSupervisor | null = null;
  const cron = makeScheduler(deps, () => supervisor as RunningSupervisor);
  const directory = `${deps.directory}/workspace/journal`;
  const workspace = await openWorkspaceJournal(deps, {
    directory,
    slackBytes: WORKSPACE_SLACK_BYTES,
    onRecord: (record) => {
      book.take(record);
      chain.take(record);
      cron.take(record);
      trees.leases.take(record);
    },
  });
  await setAsideDamaged(deps, { journal: workspace, directory }, cron);
  cron.open(workspace);
  trees.leases.open(workspace);
  const audit = await AuditBook.open(deps);
  chain.open(workspace, audit);
  book.open(chain);
  await workspace.append({
    k: 'sup',
    at: isoTime(deps.clock.now()),
    what: 'supervisor.started',
    pid: deps.pid,
  }).durable;
  supervisor = new RunningSupervisor(deps, workspace, { book, audit, chain, cron, trees });
  return supervisor;
}

class RunningSupervisor implements Supervisor {
  private readonly deps: SupervisorDeps;
  private readonly workspace: Journal;
  readonly cron: CronScheduler;
  private readonly trees: TreeKeeper;
  private readonly book: GrantBook;
  private readonly audit: AuditBook;
  private readonly chain: WorkspaceChain;
  private readonly memory: MemoryStore;
  private readonly packer: Packer;
  private readonly loops = new Map<string, RunLoop>();
  private readonly recordListeners = new Set<(run: string, record: StoredRunRecord) => void>();
  private readonly liveListeners = new Set<(run: string, event: LiveEvent) => void>();

  constructor(
    deps: SupervisorDeps,
    workspace: Journal,
    parts: {
      readonly book: GrantBook;
      readonly audit: AuditBook;
      readonly chain: WorkspaceChain;
      readonly cron: CronScheduler;
      readonly trees: TreeKeeper;
    },
  ) {
    const { book, audit, chain, cron } = parts;
    [this.cron, this.trees, this.chain] = [cron, parts.trees, chain];
    [this.audit, this.deps, this.book, this.workspace] = [audit, deps, book, workspace];
    this.memory = new MemoryStore(deps.files, `${deps.directory}/workspace/memory`);
    this.packer = new Packer({ ...deps, directory: `${deps.directory}/runs` });
    this.packer.start();
  }

  async startRun(file: RunFile): Promise<Begun> {
    requireSandbox(file, this.deps.sandbox?.report);
    const loop = await this.open(file);
    return this.begin(loop, 'run.started');
  }

  async resumeRun(...given: Parameters<Supervisor['resumeRun']>): Promise<Begun> {
    const [run, budget, tries = 0, reopen] = given;
    const file = await readRunFile(this.deps, run);
    requireSandbox(file, this.deps.sandbox?.report);
    await this.packer.leave(run);
    const left = await this.deps.exec.sweep(markerOf({ scope: this.deps.repository.hash, run }));
    const loop = await this.open(file);
    const { state } = loop;
    const { ended } = state.run;
    const mayGoOn = reopen !== undefined || (ended?.state === 'budget' && budget !== undefined);
    if (ended !== null && !mayGoOn) {
      throw new TroupeError({
        code: 'run/ended',
        message: `Run ${run} has ended: it is ${ended.state}`,
        hint: 'Start a new run with `troupe run`.',
      });
    }
    return this.begin(loop, 'run.resumed', { left, budget, tries, reopen });
  }

  private async begin(
    loop: RunLoop,
    what: string,
    how: {
      left?: readonly number[];
      budget?: Partial<Budget> | undefined;
      tries?: number;
      reopen?: string | undefined;
    } = {},
  ): Promise<Begun> {
    const { left = [], budget, tries = 0, reopen } = how;
    const run = loop.state.file.id;
    const after = loop.state.lastSeq;
    const at = isoTime(this.deps.clock.now());
    const trees = loop.state.file.treesRoot;
    const up = this.deps.up === true ? { up: true, tries } : {};
    await this.workspace.append({ k: 'run', at, what, run, trees, ...up }).durable;
    const first = loop.state.run.startedAt === null;
    const more = {
      ...(budget === undefined ? {} : { budget }),
      ...(reopen === undefined ? {} : { reopen: asTaskId(reopen) }),
    };
    loop.post(
      first
        ? { type: 'started' }
        : { type: 'resumed', left, damage: loop.damage, trees: loop.trees, ...more },
    );
    // Nobody reaches the run before its first decision of this term: he would find a team that is not there yet.
    this.loops.set(run, loop);
    await ingestSpool({
      files: this.deps.files,
      logger: this.deps.logger,
      directory: `${this.deps.directory}/spool`,
      run,
      loop,
    });
    await loop.recorded();
    return { after };
  }

  async say({ run, ...word }: RunWord): Promise<void> {
    const at = isoTime(this.deps.clock.now());
    await this.workspace.append({ k: 'run', at, run, up: true, tries: 0, ...word }).durable;
  }

  release(run: string): void {
    const { ended, interrupted } = this.loops.get(run)?.state.run ?? {};
    if (ended != null || interrupted != null) this.loops.delete(run);
  }

  private open(file: RunFile): Promise<RunLoop> {
    const { deps, audit, book, memory, trees } = this;
    return openRun(file, {
      deps,
      audit,
      book,
      memory,
      trees,
      jobs: jobsOfRun(this.cron, file.id),
      keepGrant: (grant) => this.keepGrant(grant),
      onRecord: (record) => {
        for (const listener of this.recordListeners) listener(file.id, record);
      },
      onLive: (event) => {
        for (const listener of this.liveListeners) listener(file.id, event);
      },
    });
  }

  async finished(run: string): Promise<RunRow> {
    const loop = this.loop(run);
    await loop.finished;
    await removeEmpty(this.deps.files, loop.state.file.treesRoot);
    return runRow(loop.state, { alive: false, phases: {} });
  }

  async send(request: SendRequest): Promise<SendReceipt> {
    const lane: Lane = request.interrupt ? 'interrupt' : 'normal';
    const { to, text, id = null, cron } = request;
    const job = cron === undefined ? {} : { cron };
    const loop = this.loop(request.run);
    const answered = await loop.ask((token) => ({
      type: 'send',
      token,
      to,
      text,
      lane,
      id,
      ...job,
    }));
    return { seq: answered.seq, ...(answered.value as Omit<SendReceipt, 'seq'>) };
  }

  async settleDead(request: {
    run: string;
    id: string;
    what: 'retried' | 'dropped';
  }): Promise<{ to: string; n: number; id: string }> {
    const { run, id, what } = request;
    const answered = await this.loop(run).ask((token) => ({
      type: 'mail.settle',
      token,
      id,
      what,
    }));
    return answered.value as { to: string; n: number; id: string };
  }

  async decidePlan({ run, ...decision }: DecidePlan): Promise<PlanDecision> {
    const loop = this.loop(run);
    const answered = await loop.ask((token) => ({ type: 'plan.decide', token, ...decision }));
    return answered.value as PlanDecision;
  }

  async stop(request: { run: string; now: boolean; by: string }): Promise<RunRow> {
    const loop = this.loop(request.run);
    loop.post({ type: 'stop', now: request.now, by: request.by });
    return this.finished(request.run);
  }

  async stopActor(request: {
    run: string;
    name: string;
    now: boolean;
    by: string;
  }): Promise<ActorRow> {
    const loop = this.loop(request.run);
    const { name, now, by } = request;
    await loop.ask((token) => ({ type: 'stop.actor', token, name, now, by }));
    const row = actorRows(loop.state, this.liveness(request.run)).find((one) => one.name === name);
    if (row === undefined)
      throw new TroupeError({
        code: 'actor/unknown',
        message: `There is no actor "${name}"`,
        exit: EXIT.notFound,
      });
    return row;
  }

  async trust(words: readonly Omit<TrustRecord, 'at'>[]): Promise<void> {
    const at = isoTime(this.deps.clock.now());
    const written = words.map(({ what, hash, path }) =>
      this.chain.write({ k: 'trust', at, what, hash, path }),
    );
    await Promise.all(written);
    this.deps.policy?.touch();
    await Promise.all([...this.loops.values()].map((loop) => loop.lookAgain()));
  }

  async compact({ run, ...wish }: CompactWish): Promise<boolean> {
    const { value } = await this.loop(run).ask((token) => ({ type: 'compact', token, ...wish }));
    return (value as { readonly woken: boolean }).woken;
  }

  async answerAsk(request: AskReply): Promise<AnsweredAsk> {
    const { run, ...given } = request;
    const answered = await this.loop(run).ask((token) => ({ type: 'ask.answer', token, ...given }));
    return answered.value as AnsweredAsk;
  }

  grants(): Grant[] {
    const ofRuns = [...this.loops.values()].flatMap((loop) => [...loop.state.asks.grants.values()]);
    return [...this.book.grants.values(), ...ofRuns];
  }

  async revokeGrant(id: string, by: string): Promise<boolean> {
    let found = await this.book.revoke(id, by);
    for (const loop of this.loops.values()) {
      if (!loop.state.asks.grants.has(id) || loop.state.run.ended !== null) continue;
      await loop.ask((token) => ({ type: 'grant.revoke', token, id, by }));
      found = true;
    }
    return found;
  }

  private async keepGrant(grant: Grant): Promise<void> {
    await this.book.give(grant);
    const kept = grant.id;
    for (const loop of this.loops.values()) {
      if (loop.state.run.ended === null) loop.post({ type: 'rules.changed', kept });
    }
  }

  liveness(run: string): Liveness {
    const loop = this.loops.get(run);
    if (loop === undefined) return NOT_ALIVE;
    return livenessIn(loop.state, loop.live);
  }

  state(run: string): RunState | null {
    return this.loops.get(run)?.state ?? null;
  }

  runs(): string[] {
    return [...this.loops.keys()];
  }

  onRecord(listener: (run: string, record: StoredRunRecord) => void): () => void {
    this.recordListeners.add(listener);
    return () => this.recordListeners.delete(listener);
  }

  onLive(listener: (run: string, event: LiveEvent) => void): () => void {
    this.liveListeners.add(listener);
    return () => this.liveListeners.delete(listener);
  }

  async close(): Promise<void> {
    const packed = this.packer.stop();
    await this.cron.close();
    for (const [run, loop] of this.loops) {
      const { ended, interrupted } = loop.state.run;
      if (ended === null && interrupted === null) {
        await this.stop({ run, now: true, by: 'the end of the supervisor' }).catch(() => undefined);
      } else await loop.finished.catch(() => undefined);
    }
    await this.deps.hosts.thread.close();
    await this.deps.hosts.pool.close();
    await this.cron.idle();
    await this.trees.stop();
    const at = isoTime(this.deps.clock.now());
    await this.chain.close();
    const ended = { k: 'sup', at, what: 'supervisor.ended', pid: this.deps.pid };
    await this.workspace.append(ended, { reserved: true }).durable;
    await this.workspace.close();
    await packed;
  }

  private loop(run: string): RunLoop {
    const loop = this.loops.get(run);
    if (loop === undefined) throw notHere(run);
    return loop;
  }
}

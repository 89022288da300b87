/** What a supervisor is given and what it offers to those who host it. */
import type { ActorHost } from '../actors/index.ts';
import type { Clock, Codec, Exec, Files, Logger, Random } from '../kernel/index.ts';
import type {
  ActorRow,
  Budget,
  CronEdit,
  CronEditResult,
  Grant,
  GrantScope,
  Hook,
  LiveKind,
  RunFile,
  RunRow,
  StoredRunRecord,
  TrustRecord,
} from '../protocol/index.ts';
import type { DecidePlanParams, DecidePlanResult } from '../protocol/wire.ts';
import type { Repository } from '../worktree/index.ts';
import type { CronHost } from './cron/contract.ts';
import type { CompactWish, Liveness } from './live.ts';
import type { PolicySource } from './policy-source.ts';
import type { MachineSandbox } from './run-sandbox.ts';
import type { RunState } from './state.ts';

export interface LiveEvent {
  readonly actor: string;
  readonly type: LiveKind;
  readonly data: string;
}

export interface SupervisorDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: Random;
  readonly exec: Exec;
  readonly logger: Logger;
  readonly repository: Repository;
  /** `<common git directory>/troupe`. */
  readonly directory: string;
  readonly hosts: { readonly thread: ActorHost; readonly pool: ActorHost };
  readonly environment: Readonly<Record<string, string>>;
  readonly shell: { readonly file: string; readonly args: readonly string[] };
  /** What holds commands on this machine, and folders that no command may see; left out: nothing holds them. */
  readonly sandbox?: MachineSandbox;
  /** Of this process, for the workspace journal. */
  readonly pid: number;
  /** Of snapshots. */
  readonly codec: Codec;
  /** Of this Troupe. */
  readonly version: string;
  /** SHA-256 in hex. */
  readonly sha256: (bytes: Uint8Array) => string;
  /** It is up: its runs are taken up again after its death. */
  readonly up?: boolean;
  /** Idle time after which an actor gives its thread back; default: two minutes. */
  readonly passivateMs?: number;
  /** Without it a run is judged by its team file alone, and names of files stand for themselves. */
  readonly policy?: PolicySource;
  /** Hooks of a run, as they are when a term begins; throws when a file of them can't be used (exit 2). */
  readonly hooks?: (file: RunFile) => Promise<readonly Hook[]>;
  /** What recurring jobs need; left out: they can be written down, and none is fired. */
  readonly cron?: CronHost;
}

/** What a supervisor that is up says of a run in the workspace journal, besides that it began: `take-up.ts` of `control` reads it. */
export type RunWord =
  /** It has gone on for a while since it was taken up. */
  | { readonly what: 'run.going'; readonly run: string }
  /** It is not taken up any more by itself. */
  | { readonly what: 'run.left'; readonly run: string; readonly text: string };

export interface SendRequest {
  readonly run: string;
  readonly to: string;
  readonly text: string;
  readonly interrupt: boolean;
  /** Of a letter that is sent once, however often it is tried. */
  readonly id?: string;
  /** It is a recurring job that writes. */
  readonly cron?: { readonly job: string; readonly slot: string };
}

export interface SendReceipt {
  readonly seq: number;
  readonly n: number;
  readonly id: string;
  readonly state: 'accepted' | 'dead';
}

export type PlanDecision = Omit<DecidePlanResult, 'run'>;
export type DecidePlan = DecidePlanParams & { readonly run: string };

export interface AskReply {
  readonly run: string;
  /** Or its beginning. */
  readonly id: string;
  /** Of what the person saw; null: whatever it asks now. */
  readonly digest: string | null;
  readonly effect: 'allow' | 'deny';
  readonly scope: GrantScope;
  /** Of a grant of the workspace. */
  readonly days: number;
  readonly reason: string | null;
  readonly by: string;
}

export interface AnsweredAsk {
  readonly id: string;
  readonly effect: 'allow' | 'deny';
  readonly scope: GrantScope;
  readonly by: string;
  /** Id of what was granted. */
  readonly grant: string | null;
}

/** A term of a run has begun. */
export interface Begun {
  /** Of the last record before it. */
  readonly after: number;
}

export interface Supervisor {
  /** Resolves when `run.started` is durable. `run.json` is there already. */
  startRun(file: RunFile): Promise<Begun>;
  /**
   * Takes up a run from its journal that is not ended, or that has ended by its budget and is given another one. `tries`:
   * how often it was taken up in a row after the death of its supervisor, with this time. `reopen`: a failed task whose tree
   * a person has put in order; with it a run goes on that has ended.
   */
  resumeRun(run: string, budget?: Partial<Budget>, tries?: number, reopen?: string): Promise<Begun>;
  /** Resolves when it is durable. */
  say(word: RunWord): Promise<void>;
  /** Lets go of a run that is over: it takes no memory any more, and may be resumed. Does nothing while it goes on. */
  release(run: string): void;
  /** Resolves when the run has ended or was interrupted, and nothing of it is left; rejects when its journal failed. */
  finished(run: string): Promise<RunRow>;
  /** Mail from `user`; resolves when it is durable. */
  send(request: SendRequest): Promise<SendReceipt>;
  /** A person retries or drops a dead letter, by its envelope id. */
  settleDead(request: {
    readonly run: string;
    readonly id: string;
    readonly what: 'retried' | 'dropped';
  }): Promise<{ readonly to: string; readonly n: number; readonly id: string }>;
  /** A person decides on a plan; resolves when that is durable, rejects with `plan/unknown` or `plan/decided`. */
  decidePlan(request: DecidePlan): Promise<PlanDecision>;
  /** Resolves when it is stopped: every thread and process of the run gone (S4). */
  stop(request: {
    readonly run: string;
    readonly now: boolean;
    readonly by: string;
  }): Promise<RunRow>;
  stopActor(request: {
    readonly run: string;
    readonly name: string;
    readonly now: boolean;
    readonly by: string;
  }): Promise<ActorRow>;
  /** A person's word on content of the repository; resolves when it is durable and runs know it. */
  trust(words: readonly Omit<TrustRecord, 'at'>[]): Promise<void>;
  /** Asks an actor to compact its conversation; resolves when it was told, with whether it has to be woken for that. */
  compact(request: CompactWish): Promise<boolean>;
  /** A person's answer; rejects when it changes nothing, and says who was first. Resolves when it is durable. */
  answerAsk(request: AskReply): Promise<AnsweredAsk>;
  /** What was granted to all of this workspace, and in the runs that are held. */
  grants(): Grant[];
  /** False when there is no grant of this id. */
  revokeGrant(id: string, by: string): Promise<boolean>;
  /** Recurring jobs of this workspace. */
  readonly cron: {
    /** Begins to fire them, when this supervisor was opened for it. */
    readonly start: () => Promise<void>;
    /** Resolves when it is durable; rejects with `cron/…` when it changes nothing. */
    readonly edit: (edit: CronEdit, by: string) => Promise<CronEditResult>;
  };
  liveness(run: string): Liveness;
  state(run: string): RunState | null;
  runs(): string[];
  /** Durable records, in order. */
  onRecord(listener: (run: string, record: StoredRunRecord) => void): () => void;
  onLive(listener: (run: string, event: LiveEvent) => void): () => void;
  /** Stops all runs at once and closes the workspace journal. */
  close(): Promise<void>;
}

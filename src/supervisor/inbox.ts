/**
 * The supervisor's inbox: a closed union of what can happen to a run. Every event carries what an effect or a client
 * learnt; nothing in a decision looks at a clock, a disk or a thread.
 */
import type { HostExit } from '../actors/index.ts';
import type { ActorName, CallId, ErrorShape, ProcId, TaskId } from '../kernel/index.ts';
import type {
  Budget,
  CallFacts,
  GrantScope,
  Lane,
  PayloadRef,
  PolicySnapshot,
  Upward,
} from '../protocol/index.ts';
import type { HookReport, HookWork } from './hooks.ts';

/** Names a client's question so that an `answer` effect finds it. */
export type Token = number;

export type TreeOutcome =
  | {
      readonly kind: 'ready';
      readonly path: string;
      readonly branch: string;
      readonly start: string;
      readonly note: string | null;
      /** With conflicts: what landed since both sides began, oldest first, and whether it changed a file in conflict. */
      readonly landed?: readonly { readonly commit: string; readonly touches: boolean }[];
    }
  | { readonly kind: 'failed'; readonly text: string };

export type CommitOutcome =
  | {
      readonly kind: 'committed';
      readonly commit: string;
      /** Paths that the task's `touches` do not name. */
      readonly undeclared?: readonly string[];
    }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'unfinished-merge'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string };

export type MergeOutcome =
  | { readonly kind: 'merged'; readonly from: string; readonly to: string }
  | { readonly kind: 'nothing'; readonly at: string }
  | { readonly kind: 'conflict'; readonly text: string }
  /** Something outside stands in the way that goes away by itself; to be tried again. */
  | { readonly kind: 'blocked'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string };

export type AdvanceOutcome =
  | { readonly kind: 'moved' }
  | { readonly kind: 'stale' }
  /** Something outside stands in the way; to be tried again. */
  | { readonly kind: 'blocked'; readonly text: string };

export interface CommandOutcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly why: 'exit' | 'timeout' | 'killed' | 'overflow' | 'failed';
  readonly left: readonly number[];
  /** Head and tail of the output as a model or a person is shown it. */
  readonly text: string;
  /** True when `text` is a part of the whole. */
  readonly cut: boolean;
  readonly durationMs: number;
}

/** Whole characters of an output, as far as one page goes. */
export interface OutputPage {
  readonly text: string;
  readonly from: number;
  readonly next: number;
  /** Bytes that there are so far. */
  readonly size: number;
}

export type RunEvent =
  /** The run begins (its first record) or is taken up again by a new term. */
  | { readonly type: 'started' }
  | {
      readonly type: 'resumed';
      readonly left: readonly number[];
      /** What it may spend from now on; left out: as before. */
      readonly budget?: Partial<Budget>;
      /** What the journal had lost, one sentence each. */
      readonly damage: readonly string[];
      /** A failed task whose tree a person has put in order. */
      readonly reopen?: TaskId;
      /** Trees that are not as they were left, one sentence each. */
      readonly trees?: readonly string[];
    }
  /** Found while the run goes on, in the part of the journal that a snapshot spared. */
  | { readonly type: 'damaged'; readonly damage: readonly string[] }
  | {
      readonly type: 'request';
      readonly name: ActorName;
      readonly incarnation: number;
      readonly epoch: number;
      readonly upward: Upward;
      /** Of a call that becomes a letter: the whole text, of which the call has the head. */
      readonly payload?: PayloadRef;
      /** Of a call that is judged: what the disk says of the paths that it names. */
      readonly disk?: CallFacts;
      /** Hooks have looked at this call; the input is what they made of it. */
      readonly hooked?: HookReport;
    }
  /** Hooks that look at what has happened are through; `seq`: of the record that they followed. */
  | {
      readonly type: 'hooks.ended';
      readonly work: HookWork;
      readonly report: HookReport;
      readonly seq: number;
    }
  /** A file of the policy was changed, or a person trusted one. */
  | { readonly type: 'policy.changed'; readonly snapshot: PolicySnapshot }
  | {
      readonly type: 'actor.exited';
      readonly name: ActorName;
      readonly incarnation: number;
      readonly epoch: number;
      readonly exit: HostExit;
    }
  | {
      readonly type: 'tree.prepared';
      readonly task: TaskId;
      readonly fence: number;
      readonly outcome: TreeOutcome;
    }
  | { readonly type: 'view.ready'; readonly outcome: TreeOutcome }
  | {
      readonly type: 'tree.committed';
      readonly task: TaskId;
      readonly fence: number;
      readonly outcome: CommitOutcome;
    }
  | {
      readonly type: 'tree.dropped';
      readonly owner: string;
      readonly removed: boolean;
      readonly saved: { readonly ref: string; readonly commit: string } | null;
      readonly text: string;
    }
  | { readonly type: 'command.ended'; readonly id: ProcId; readonly outcome: CommandOutcome }
  | { readonly type: 'output.read'; readonly call: CallId; readonly page: OutputPage }
  /** A call has waited as long as it wanted to. */
  | { readonly type: 'wait.over'; readonly call: CallId }
  /** `text`: the diff that a reviewer is shown, or why there is none. */
  | {
      readonly type: 'diff.ready';
      readonly task: TaskId;
      readonly fence: number;
      readonly ok: boolean;
      readonly text: string;
    }
  | {
      readonly type: 'merge.computed';
      readonly task: TaskId;
      readonly fence: number;
      readonly outcome: MergeOutcome;
    }
  | {
      readonly type: 'ref.advanced';
      readonly task: TaskId;
      readonly to: string;
      readonly outcome: AdvanceOutcome;
    }
  | {
      readonly type: 'send';
      readonly token: Token;
      readonly to: string;
      readonly text: string;
      /** The whole text, of which `text` is the head. */
      readonly payload?: PayloadRef;
      readonly lane: Lane;
      /** It is a recurring job that writes. */
      readonly cron?: { readonly job: string; readonly slot: string };
      readonly id: string | null;
    }
  | {
      readonly type: 'mail.settle';
      readonly token: Token;
      readonly id: string;
      readonly what: 'retried' | 'dropped';
    }
  /** The user wants an actor's conversation compacted. */
  | {
      readonly type: 'compact';
      readonly token: Token;
      readonly name: string;
      readonly focus: string | null;
    }
  /** A person decides on a plan. */
  | {
      readonly type: 'plan.decide';
      readonly token: Token;
      readonly id: string;
      readonly approve: boolean;
      readonly feedback: string;
    }
  | {
      readonly type: 'ask.answer';
      readonly token: Token;
      /** Or its beginning. */
      readonly id: string;
      /** Of what the person saw; null: whatever it asks now. */
      readonly digest: string | null;
      readonly effect: 'allow' | 'deny';
      readonly scope: GrantScope;
      /** Of a grant of scope `workspace`. */
      readonly days: number;
      readonly reason: string | null;
      readonly by: string;
      /** Of each live call that waits for it: what the disk says now of the paths that it names. */
      readonly disks?: ReadonlyMap<CallId, CallFacts>;
    }
  /** A call whose ask has ended may go on: the disk was looked at once more. */
  | {
      readonly type: 'call.looked';
      readonly name: ActorName;
      readonly call: CallId;
      readonly disk?: CallFacts;
    }
  /** Some job of the run may be due. */
  | { readonly type: 'jobs.due' }
  /** A job of an actor is in the workspace journal, or out of it, or why not. */
  | {
      readonly type: 'cron.edited';
      readonly call: CallId;
      readonly removed: boolean;
      readonly ok: boolean;
      readonly text: string;
    }
  /** The time of some ask is over, or nearly. */
  | { readonly type: 'asks.due' }
  /** Some request that waits for a provider may go out now. */
  | { readonly type: 'outlet.due' }
  /** A grant has come into the workspace journal: what waits is judged again. */
  | { readonly type: 'rules.changed'; readonly kept: string }
  | {
      readonly type: 'grant.revoke';
      readonly token: Token;
      readonly id: string;
      readonly by: string;
    }
  | { readonly type: 'stop'; readonly now: boolean; readonly by: string }
  | {
      readonly type: 'stop.actor';
      readonly token: Token;
      readonly name: string;
      readonly now: boolean;
      readonly by: string;
    }
  /** Mail of an actor may be given again. */
  | { readonly type: 'mail.due'; readonly name: ActorName }
  /** First sign of it: something could not be written for want of space. */
  | { readonly type: 'disk.full'; readonly error: ErrorShape }
  /** Every thread and process of the run is gone. */
  | { readonly type: 'stopped'; readonly left: readonly number[] }
  /** Deadlines, leases and budgets are looked at; carries the heartbeats of the threads. */
  | { readonly type: 'sweep'; readonly beats: Readonly<Record<string, number>> };

/** An event with the moment it was taken from the inbox. */
export interface Happening {
  readonly event: RunEvent;
  /** Wall clock, ms. */
  readonly now: number;
  readonly monotonicMs: number;
}

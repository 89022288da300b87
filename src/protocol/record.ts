/**
 * Records of a run's journal: facts, each a transaction. The journal itself adds `s`, `d` and `c` (see room `journal`).
 * State is a fold over records: `apply` of each room takes the sections it knows. A section that is absent changed nothing.
 *
 * Invariants
 * - J-R1 A record says what happened, never what should be shown: statuses are derived.
 * - J-R2 Everything one decision changes is in one record: before it nothing of the decision exists, after it all does.
 * - J-R3 A claim's fence is the sequence of the record with its `task.claimed`.
 */
import type { ActorName, CallId, EnvelopeId, ProcId, TaskId } from '../kernel/ids.ts';
import type { AskChange } from './ask.ts';
import type { AuditMark } from './audit.ts';
import type { RunCronChange } from './cron.ts';
import type { Mail } from './envelope.ts';
import type { HookFact } from './hook.ts';
import type { PayloadRef } from './payload.ts';
import type { PolicyLayer } from './policy.ts';
import type { SessionEntry } from './session.ts';
import type { AgentProfile, Budget, TaskSpec } from './team.ts';
import type { Usage } from './usage.ts';

/**
 * Why the record was written. `msg` one envelope · `step` a model answer or a tool result · `task` the graph or a task
 * moved · `sup` actors · `run` the run itself · `git` trees and merges · `proc` processes · `perm` decisions · `dead` a
 * dead letter. (`seg` and `seal` are the journal's own.)
 */
export type RecordKind = 'msg' | 'step' | 'task' | 'sup' | 'run' | 'git' | 'proc' | 'perm' | 'dead';

export type TaskState =
  | 'blocked'
  | 'ready'
  | 'running'
  | 'verifying'
  | 'merging'
  | 'done'
  | 'failed'
  | 'cancelled';

export type ReasonKind =
  | 'task'
  | 'member'
  | 'approval'
  | 'merge'
  | 'budget'
  | 'quota'
  | 'touches'
  | 'parallel'
  | 'backoff'
  | 'conflict'
  | 'gate'
  | 'attempts'
  | 'agent'
  | 'worktree'
  | 'stopped'
  | 'cancelled'
  /** Nothing to do: neither a task nor mail. */
  | 'idle'
  /** It died too often to be started again. */
  | 'died'
  /** Ready, with a slot and a worker free, and still not begun: the self-check noticed. */
  | 'stalled'
  /** A state or a record that this version does not know. */
  | 'unknown';

/** Why something is not moving. `ref` names what it waits for. */
export interface Reason {
  readonly kind: ReasonKind;
  readonly ref?: string;
  readonly text: string;
}

export type TaskChange =
  | { readonly type: 'task.added'; readonly task: TaskSpec; readonly by: ActorName }
  /** Compare-and-set on `ready`; the record's sequence is the fence. `by` is `supervisor` for a command task. */
  | {
      readonly type: 'task.claimed';
      readonly id: TaskId;
      readonly by: ActorName;
      readonly incarnation: number;
      readonly attempt: number;
      readonly leaseUntil: string;
    }
  | {
      readonly type: 'task.tree';
      readonly id: TaskId;
      readonly path: string;
      readonly branch: string;
      readonly start: string;
    }
  /** The worker says that it is finished: the runtime's turn. */
  | {
      readonly type: 'task.finished';
      readonly id: TaskId;
      readonly by: ActorName;
      readonly summary: string;
    }
  /** The runtime committed the tree; null: nothing changed. */
  | { readonly type: 'task.committed'; readonly id: TaskId; readonly commit: string | null }
  /** Evidence of one gate, bound to the commit it ran on. `output` names a file in `outputs/`. */
  | {
      readonly type: 'task.gate';
      readonly id: TaskId;
      readonly gate: string;
      readonly stage: 'task' | 'merge';
      readonly commit: string | null;
      readonly ok: boolean;
      readonly exit: number | null;
      readonly output: ProcId | null;
      readonly tries: number;
      /** Of a review: what the reviewer said. */
      readonly text?: string;
    }
  /** Gates passed: to the merge queue. */
  | { readonly type: 'task.verified'; readonly id: TaskId }
  /** Back to `ready` with its tree and branch kept. `counts`: what this end is charged to. */
  | {
      readonly type: 'task.released';
      readonly id: TaskId;
      readonly counts: 'attempt' | 'conflict' | 'interruption' | 'nothing';
      readonly reason: Reason;
      /** What the next worker is told besides the prompt. */
      readonly rework: string | null;
    }
  /** Durable before the ref moves; recovery compares the ref with both. */
  | {
      readonly type: 'task.merging';
      readonly id: TaskId;
      readonly from: string;
      readonly to: string;
    }
  /**
   * A person has put the tree of a failed task in order: it is verified and merged once more. `also`: what its failure had
   * cancelled, and which waits for it again.
   */
  | {
      readonly type: 'task.reopened';
      readonly id: TaskId;
      readonly by: ActorName;
      readonly also: readonly TaskId[];
    }
  | { readonly type: 'task.done'; readonly id: TaskId; readonly commit: string | null }
  | { readonly type: 'task.failed'; readonly id: TaskId; readonly reason: Reason }
  | { readonly type: 'task.cancelled'; readonly id: TaskId; readonly reason: Reason };

export type ActorKind = 'lead' | 'teammate' | 'subagent';

export type ActorEnd =
  | { readonly kind: 'finished'; readonly text: string }
  | { readonly kind: 'stopped'; readonly text: string }
  | { readonly kind: 'crashed'; readonly text: string; readonly cause?: DeathCause };

/**
 * What a death says about a restart. `bug` a throw or an exit · `memory` its heap was full · `hang` no sign of life, each
 * counted; `poison` at a letter that is set aside now · `deadline` its task took too long, not counted: others bound them.
 * Left out in old records: `bug`.
 */
export type DeathCause = 'bug' | 'memory' | 'hang' | 'poison' | 'deadline';

export type ActorChange =
  | {
      readonly type: 'actor.added';
      readonly name: ActorName;
      readonly kind: ActorKind;
      readonly profile: AgentProfile;
      readonly parent: ActorName | null;
      readonly depth: number;
    }
  | {
      readonly type: 'actor.started';
      readonly name: ActorName;
      readonly incarnation: number;
      readonly epoch: number;
    }
  | { readonly type: 'actor.passivated'; readonly name: ActorName; readonly epoch: number }
  | {
      readonly type: 'actor.ended';
      readonly name: ActorName;
      readonly incarnation: number;
      readonly end: ActorEnd;
      /** Of a death: positions in its mailbox that its thread had been given and had not answered. */
      readonly held?: readonly number[];
      /** Of a death that is not the last: it is not started again before. */
      readonly restartAt?: string;
    };

export type RunEndState = 'done' | 'failed' | 'cancelled' | 'budget';

export type RunChange =
  | {
      readonly type: 'run.started';
      readonly run: string;
      readonly baseCommit: string;
      readonly term: number;
      /** Level of the sandbox that commands run in (permissions §2.14); left out: 0. */
      readonly sandbox?: number;
    }
  /** A supervisor took the run up again; what was going on in the last term is void. */
  | {
      readonly type: 'run.resumed';
      readonly term: number;
      readonly sandbox?: number;
      /** Mail that was in an actor's hands when the last term was cut, without a stop. */
      readonly held?: readonly { readonly to: ActorName; readonly n: readonly number[] }[];
      /** What the run may spend from now on; left out: as before. */
      readonly budget?: Partial<Budget>;
    }
  | { readonly type: 'run.stop-requested'; readonly by: string; readonly now: boolean }
  /** Stopped with work left; `troupe resume` goes on from here. */
  | { readonly type: 'run.interrupted'; readonly text: string }
  | {
      readonly type: 'run.gate';
      readonly gate: string;
      readonly commit: string;
      readonly ok: boolean;
      readonly exit: number | null;
      readonly output: ProcId | null;
      readonly tries: number;
    }
  /** Nine tenths of something are used. `scope`: of what, such as `task:parser` or `wall`; left out: of the run's budget. */
  | { readonly type: 'run.warned'; readonly text: string; readonly scope?: string }
  /** The account behind a provider has used up what it may use: nobody asks it before `until`. */
  | {
      readonly type: 'quota.hit';
      readonly provider: string;
      readonly until: string;
      readonly text: string;
      /** It does not answer, rather: so many times in a row. */
      readonly down?: number;
    }
  | { readonly type: 'quota.over'; readonly provider: string }
  /** Calls are judged by these layers from now on; `first`: in this term. */
  | {
      readonly type: 'policy.loaded';
      readonly revision: string;
      readonly first: boolean;
      readonly layers: readonly (Pick<PolicyLayer, 'name' | 'origin' | 'trusted'> & {
        readonly hash?: string;
        readonly problem?: string;
      })[];
    }
  /** A file of the policy can't be used any more: it stands as it was, and allows nothing. */
  | {
      readonly type: 'policy.alert';
      readonly layer: PolicyLayer['name'];
      readonly origin: string;
      readonly text: string;
    }
  /** The self-check found a fault of Troupe itself. */
  | {
      readonly type: 'run.alarm';
      readonly what: 'stalled';
      readonly task: TaskId;
      readonly text: string;
    }
  | {
      readonly type: 'run.ended';
      readonly state: RunEndState;
      readonly reason: Reason | null;
      readonly commit: string;
    };

export type TreeChange =
  | {
      readonly type: 'tree.added';
      readonly owner: string;
      readonly path: string;
      readonly branch: string | null;
      readonly commit: string;
    }
  | {
      readonly type: 'tree.saved';
      readonly owner: string;
      readonly ref: string;
      readonly commit: string;
    }
  | { readonly type: 'tree.removed'; readonly owner: string; readonly path: string };

export type ProcChange =
  | {
      readonly type: 'proc.started';
      readonly id: ProcId;
      readonly command: string;
      readonly cwd: string;
      readonly actor: ActorName | null;
      readonly task: TaskId | null;
      /** It runs beside its actor's turn. Incarnation of the actor, and fence of the claim whose tree it is in (0: none). */
      readonly background?: { readonly incarnation: number; readonly fence: number };
    }
  | {
      readonly type: 'proc.ended';
      readonly id: ProcId;
      readonly code: number | null;
      readonly signal: string | null;
      readonly why: 'exit' | 'timeout' | 'killed' | 'overflow' | 'lost' | 'failed';
      readonly left: readonly number[];
    };

/** A mutating call, judged; durable before it runs. `effect` is the decision, `rule` what decided. */
export interface Decision extends Partial<PayloadRef> {
  readonly actor: ActorName;
  readonly call: CallId;
  readonly tool: string;
  /** With a reference: its long texts are their heads, the whole is JSON. */
  readonly input: unknown;
  readonly effect: 'allow' | 'deny';
  readonly rule: string;
  readonly reason: string;
  /** Of the policy that it was decided by. */
  readonly revision?: string;
  /** Where its rule stands: a layer of the policy, `floor`, `grant` or `hook`; left out: no rule decided. */
  readonly layer?: string;
}

export type ShutdownAnswer = 'working' | 'ready' | 'refused';

/** What members of a team ask of each other and answer; all of it ends with the life of its actors. */
export type TeamChange =
  /** `by` wants a plan of `from`. `binds`: nothing may be changed before it is approved. `chain`: who waits for it. */
  | {
      readonly type: 'plan.requested';
      readonly id: string;
      readonly from: ActorName;
      readonly by: ActorName;
      readonly about: string;
      readonly binds: boolean;
      readonly chain: readonly string[];
    }
  /** The time for a requested plan has passed; both were told. */
  | { readonly type: 'plan.overdue'; readonly id: string }
  /** `fence`: of the claim it is for, 0 without a task. `letter`: what the reviewer got. */
  | {
      readonly type: 'plan.proposed';
      readonly id: string;
      readonly by: ActorName;
      readonly to: ActorName;
      readonly task: TaskId | null;
      readonly fence: number;
      readonly request: string | null;
      readonly letter: EnvelopeId;
      readonly text: string;
      readonly blob?: string;
      readonly bytes?: number;
    }
  | {
      readonly type: 'plan.decided';
      readonly id: string;
      readonly by: ActorName;
      readonly approve: boolean;
      readonly feedback: string;
    }
  | { readonly type: 'plan.closed'; readonly id: string; readonly why: 'expired' | 'superseded' }
  /** Those who wait for a plan that will not come were told. */
  | { readonly type: 'plan.told'; readonly id: string }
  /** `n`: position of the letter. `insists`: it was refused before, and can't be again. */
  | {
      readonly type: 'shutdown.requested';
      readonly id: string;
      readonly name: ActorName;
      readonly by: ActorName;
      readonly reason: string;
      readonly n: number;
      readonly insists: boolean;
    }
  | {
      readonly type: 'shutdown.answered';
      readonly id: string;
      readonly name: ActorName;
      readonly answer: ShutdownAnswer;
    }
  /** No answer, or none in time: it is ended by force. */
  | { readonly type: 'shutdown.forced'; readonly id: string; readonly name: ActorName }
  /** `by` is to look at the diff of a task's commit, for a gate. `fence`: of the claim. */
  | {
      readonly type: 'review.asked';
      readonly id: string;
      readonly by: ActorName;
      readonly task: TaskId;
      readonly fence: number;
      readonly commit: string;
    }
  | {
      readonly type: 'review.decided';
      readonly id: string;
      readonly by: ActorName;
      readonly approve: boolean;
      readonly feedback: string;
    }
  /** A subagent whose answer goes to its parent by mail. */
  | { readonly type: 'subagent.background'; readonly name: ActorName };

/** One note; `id` is its own for ever. */
export interface NoteFact {
  readonly id: string;
  readonly by: ActorName;
  readonly text: string;
}

/** A text of the record that is its head: where it stands (`tasks.0.summary`), and its whole (M8). */
export interface TextRef extends PayloadRef {
  readonly at: string;
}

/** Money and tokens that are put aside for a request before it goes out, and what became of them. `a` is the actor. */
export type SpendChange =
  | {
      readonly type: 'spend.reserved';
      readonly id: string;
      readonly model: string;
      readonly task: TaskId | null;
      readonly input: number;
      readonly output: number;
      readonly usd: number;
    }
  /** The record's answer is what came of it, and has its usage. */
  | { readonly type: 'spend.answered'; readonly id: string }
  /** No answer came of it (an error, an abort); `usage` is what it cost all the same. */
  | {
      readonly type: 'spend.settled';
      readonly id: string;
      readonly model: string;
      readonly task: TaskId | null;
      readonly usage: Usage;
    };

export interface RunRecord {
  readonly k: RecordKind;
  /** Of `msg` and `dead`: the mailbox. */
  readonly to?: ActorName;
  /** Of `step`, `perm` and the records of one actor: that actor. */
  readonly a?: ActorName;
  readonly at: string;
  /** Incarnation and epoch of `a`: a step of an old one is refused, never recorded. */
  readonly i?: number;
  readonly e?: number;
  /** Positions in the mailbox of `a` that this step takes in: they are seen (M3). */
  readonly took?: readonly number[];
  /** Positions in the mailbox of `a` that are in a request now; told only of mail that was in hand at an end before. */
  readonly gave?: readonly number[];
  readonly entries?: readonly SessionEntry[];
  readonly mail?: readonly Mail[];
  readonly tasks?: readonly TaskChange[];
  readonly actors?: readonly ActorChange[];
  readonly run?: readonly RunChange[];
  readonly trees?: readonly TreeChange[];
  readonly procs?: readonly ProcChange[];
  readonly decisions?: readonly Decision[];
  /** Of what is in the audit chain: its place there. */
  readonly audit?: AuditMark;
  /** What hooks said. */
  readonly hooks?: readonly HookFact[];
  readonly team?: readonly TeamChange[];
  readonly asks?: readonly AskChange[];
  /** Jobs that actors have made. */
  readonly cron?: readonly RunCronChange[];
  readonly spend?: readonly SpendChange[];
  /** Facts that an actor noted for later runs. */
  readonly notes?: readonly NoteFact[];
  readonly usage?: Usage;
  /** Texts of it that are heads and have no place beside them for a reference. */
  readonly texts?: readonly TextRef[];
  /** Of `dead`: which letters, by mailbox position in `to`, and why; or that they were retried or dropped. */
  readonly dead?: readonly {
    readonly n: number;
    readonly id: EnvelopeId;
    readonly what: 'dead' | 'retried' | 'dropped';
    readonly reason: string;
    /** The mailbox, when it is not the record's `to`. */
    readonly to?: ActorName;
  }[];
}

/** A record as read back. */
export interface StoredRunRecord extends RunRecord {
  readonly s: number;
  readonly d: number;
}

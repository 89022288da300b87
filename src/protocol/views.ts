/**
 * What reading commands answer beside the rows of `shapes.ts`: `--json` prints them, the wire carries them. One file, so
 * that a front end needs no other room.
 */
import type { Reason } from './record.ts';
import type { SessionEntry, TodoItem } from './session.ts';
import type { RunStatus, TaskRow, TreeRow } from './shapes.ts';
import type { Budget, SkillFile } from './team.ts';
import type { Usage } from './usage.ts';

export type UsageRow = Usage & { readonly name: string };

export interface UsageAnswer extends Usage {
  readonly run: string;
  readonly state: RunStatus;
  /** In force now. */
  readonly budget: Budget;
  /** Model answers. */
  readonly turns: number;
  readonly wallMs: number;
  /** For requests that are under way: what they may cost at most; not in the sums. */
  readonly aside: {
    readonly requests: number;
    readonly tokens: number;
    readonly costUsd: number;
  };
  readonly actors: readonly UsageRow[];
  readonly tasks: readonly UsageRow[];
  readonly models: readonly UsageRow[];
  /** Models whose price nobody knows: what they cost is not in the sums. */
  readonly unpriced: readonly string[];
}

/** One thing that was decided or asked, or that a hook said; secrets are taken out. */
export interface AuditRow {
  /** Null: of the repository, for all its runs. */
  readonly run: string | null;
  readonly seq: number;
  readonly at: string;
  /** `decision`, `ask.put`, `ask.answered`, `grant.given`, `policy.loaded`, `hook` … */
  readonly what: string;
  readonly actor: string | null;
  readonly tool: string | null;
  /** `allow`, `deny`, or what a hook made of it. */
  readonly effect: string | null;
  readonly rule: string | null;
  /** Where the rule stands: `admin`, `user`, `project`, `team`, `built-in`, `floor`, `grant`, `hook`. */
  readonly layer: string | null;
  /** Of the ask, grant or call that it is about. */
  readonly id: string | null;
  /** Level of the sandbox that commands ran in; null: not told. */
  readonly sandbox: number | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly data: unknown;
  /** Place in the chain; null in runs that are older than it. */
  readonly n: number | null;
  readonly hash: string | null;
}

export interface AuditBreak {
  /** Or `@workspace`: of the journal of all runs. */
  readonly run: string;
  /** Null: it is about the run as a whole. */
  readonly seq: number | null;
  readonly what: string;
}

export interface AuditReport {
  readonly ok: boolean;
  readonly runs: number;
  readonly records: number;
  readonly heads: number;
  readonly breaks: readonly AuditBreak[];
}

export interface DiffFile {
  readonly path: string;
  /** Before a rename. */
  readonly oldPath: string | null;
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed' | 'type-changed';
  /** Null for binary files. */
  readonly added: number | null;
  readonly removed: number | null;
}

export interface DiffAnswer {
  readonly run: string;
  readonly task: string | null;
  readonly from: string;
  readonly to: string;
  /** True when `to` is what lies in the task's tree now, and not a commit. */
  readonly uncommitted: boolean;
  readonly files: readonly DiffFile[];
  readonly text: string;
}

export interface Removed {
  readonly run: string;
  readonly task: string | null;
  readonly path: string;
  /** Ref that has the work which was only there; null when there was none. */
  readonly saved: string | null;
  /** Branch that has what the task committed and nobody merged; null when there is nothing of the kind. */
  readonly branch: string | null;
}

export interface CleanUp {
  readonly removed: readonly Removed[];
  /** With the reason in `kept`. */
  readonly kept: readonly TreeRow[];
}

export interface Whereabouts {
  readonly workspace: string;
  readonly gitDir: string;
  readonly state: string;
  readonly runs: string;
  readonly spool: string;
  readonly trees: string;
  readonly socket: string;
  readonly supervisorFile: string;
  /** Of a supervisor that is up. */
  readonly logs: string;
  readonly settings: string;
  readonly userSettings: string;
}

export interface SkillRow {
  readonly name: string;
  readonly description: string;
  readonly from: SkillFile['from'];
  /** Of its SKILL.md. */
  readonly path: string;
  readonly inUse: boolean;
  /** Why it is not in use; null: it is. */
  readonly reason: string | null;
  /** What the specification objects to. */
  readonly problems: readonly string[];
}

export interface SkillCheck {
  readonly name: string;
  readonly path: string;
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export type TrustKind = 'policy' | 'config' | 'agents' | 'skills' | 'mcp';

export interface Trustable {
  /** Relative to the repository. */
  readonly path: string;
  readonly kind: TrustKind;
  /** SHA-256 of its content as it is now. */
  readonly hash: string;
  readonly trusted: boolean;
  /** What trusting it would open, one line each, as far as this can be told. */
  readonly allows: readonly string[];
}

export interface MergeAnswer {
  readonly run: string;
  readonly state: 'merged' | 'would-merge' | 'up-to-date';
  readonly branch: string;
  readonly commit: string | null;
  readonly fastForward: boolean;
  readonly files: readonly string[];
  /** That the run did not end well, and what failed; null when it is done. */
  readonly warning: string | null;
}

/** What `troupe doctor` says of one thing. */
export interface Finding {
  /** What was looked at: `journal of RUN`, `workspace journal`, `spool`, `setting model`. */
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; empty when there is nothing. */
  readonly repair: string;
}

export interface MemoryRow {
  readonly text: string;
  /** Null: a person wrote it. */
  readonly at: string | null;
  readonly by: string | null;
  readonly run: string | null;
  /** File that it stands in. */
  readonly path: string;
}

export interface CheckAnswer {
  readonly name: string;
  readonly graph: readonly {
    readonly id: string;
    readonly title: string;
    readonly needs: readonly string[];
    /** `agent` or `command`. */
    readonly kind: string;
    readonly agent: string | null;
  }[];
  /** As the tasks would start if one ran at a time. */
  readonly order: readonly string[];
  readonly levels: readonly (readonly string[])[];
  readonly criticalPath: readonly string[];
  readonly members: readonly string[];
  readonly problems: readonly [];
  readonly warnings: readonly string[];
}

export interface CommandRun {
  readonly id: string;
  readonly command: string;
  readonly startedAt: string;
  /** Null: it goes on, or its end is not known. */
  readonly endedAt: string | null;
  readonly code: number | null;
  readonly why: string | null;
  /** Name of the agent that called it; null for the runtime's own: the command of a task, gates. */
  readonly actor: string | null;
  /** Absolute. */
  readonly output: string;
}

export interface TaskGate {
  readonly gate: string;
  readonly stage: 'task' | 'merge';
  readonly commit: string | null;
  readonly ok: boolean;
  readonly exit: number | null;
  readonly tries: number;
  /** Absolute path of what it printed. */
  readonly output: string | null;
  /** Of a review: what the reviewer said. */
  readonly text?: string;
}

/** An end of an attempt that was not success. */
export interface TaskSetback {
  readonly at: string;
  readonly attempt: number;
  readonly by: string | null;
  /** What it was charged to; `end` for the one that ended the task. */
  readonly kind: 'attempt' | 'conflict' | 'interruption' | 'nothing' | 'end';
  readonly reason: Reason;
}

/** The row, and more. */
export interface TaskDetail extends TaskRow {
  readonly run: string;
  readonly command: string | null;
  readonly prompt: string | null;
  readonly agent: string | null;
  readonly touches: readonly string[];
  readonly verify: readonly string[];
  readonly attempts: number;
  readonly summary: string | null;
  readonly mergedCommit: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly setbacks: readonly TaskSetback[];
  /** What its worker has written down to do, while it works on it. */
  readonly todo: readonly TodoItem[];
  /** Every gate that ran, in order. */
  readonly gates: readonly TaskGate[];
  readonly commands: readonly CommandRun[];
  /** Refs with work that was saved when its tree went. */
  readonly saved: readonly string[];
}

/** An entry with its place: what `troupe session --json` lists. Secrets are taken out (E2). */
export type SessionRow = SessionEntry & { readonly seq: number; readonly at: string };

export interface SessionAnswer {
  readonly run: string;
  readonly actor: string;
  /** Of its newest task, when it has one. */
  readonly todo: readonly TodoItem[];
  readonly notes: readonly string[];
  readonly usage: Usage;
  readonly entries: readonly SessionRow[];
}

export interface Verdict {
  readonly action: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  readonly reason: string;
}

export interface ActiveRule {
  readonly id: string;
  readonly effect: string;
  readonly tool: string;
  /** `layer, file:line`. */
  readonly from: string;
  /** A rule that is before it wherever both are about a call; null: none is. */
  readonly shadowedBy: string | null;
}

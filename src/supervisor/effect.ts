/**
 * Effects: what a decision wants done, as data. `effects/` alone executes them, after the decision's record is durable,
 * in order per kind of thing; results come back as events.
 */
import type { ActorName, CallId, ErrorShape, ProcId, TaskId } from '../kernel/index.ts';
import type {
  ActorCronEdit,
  ActorReply,
  ActorStart,
  Downward,
  Grant,
  NoteFact,
} from '../protocol/index.ts';
import type { HookWork } from './hooks.ts';

import type { Token } from './inbox.ts';

/** Where a command runs: a tree that exists, or a scratch tree made at a commit for it and removed after it. */
export type CommandPlace =
  | {
      readonly kind: 'tree';
      readonly path: string /** After it the tree is put back to this commit. */;
      readonly restore: string | null;
      readonly task: TaskId | null;
    }
  | { readonly kind: 'scratch'; readonly commit: string };

export type Effect =
  | {
      readonly type: 'reply';
      readonly name: ActorName;
      readonly incarnation: number;
      readonly id: number;
      readonly reply: ActorReply;
    }
  /** What came too late to mean anything: for the log. `what`: the event, and of a request also its type. */
  | {
      readonly type: 'refused';
      readonly what: string;
      readonly about: string;
      readonly of: string;
    }
  | { readonly type: 'answer'; readonly token: Token; readonly value: unknown }
  | { readonly type: 'refuse'; readonly token: Token; readonly error: ErrorShape }
  | { readonly type: 'actor.start'; readonly start: ActorStart; readonly host: 'thread' | 'pool' }
  | {
      readonly type: 'actor.post';
      readonly name: ActorName;
      readonly incarnation: number;
      readonly messages: readonly Downward[];
    }
  | { readonly type: 'actor.interrupt'; readonly name: ActorName; readonly incarnation: number }
  | {
      readonly type: 'actor.stop';
      readonly name: ActorName;
      readonly incarnation: number;
      readonly graceMs: number;
    }
  /** `resolve`: continue in the tree with the integration branch merged into it, conflicts marked in the files. */
  | {
      readonly type: 'tree.prepare';
      readonly task: TaskId;
      readonly fence: number;
      readonly mode: 'new' | 'fresh' | 'continue' | 'resolve';
      readonly path: string;
    }
  | {
      readonly type: 'tree.commit';
      readonly task: TaskId;
      readonly fence: number;
      readonly path: string;
      readonly author: ActorName;
      readonly message: string;
      readonly touches: readonly string[];
    }
  | {
      readonly type: 'tree.drop';
      readonly owner: string;
      readonly path: string;
      readonly branch: string | null;
    }
  /** What a task's commit changes. */
  | {
      readonly type: 'diff.read';
      readonly task: TaskId;
      readonly fence: number;
      readonly commit: string;
    }
  /** Made, or moved to the tip of the integration branch. */
  | { readonly type: 'view.prepare'; readonly path: string }
  | {
      readonly type: 'command.start';
      readonly id: ProcId;
      readonly command: string;
      /** Who wrote it: what the sandbox leaves open depends on it. */
      readonly by: 'actor' | 'team';
      readonly place: CommandPlace;
      readonly timeoutMs: number;
      readonly tailOnly: boolean;
      /** Nothing waits for its end, and a stop gives it no time. */
      readonly background?: boolean;
    }
  | {
      readonly type: 'memory.keep';
      readonly notes: readonly (NoteFact & { readonly at: string })[];
    }
  | { readonly type: 'command.kill'; readonly id: ProcId }
  /** A part of a command's output, for a call. */
  | {
      readonly type: 'output.read';
      readonly call: CallId;
      readonly id: ProcId;
      /** Null: its end. */
      readonly offset: number | null;
    }
  | { readonly type: 'wait.later'; readonly call: CallId; readonly ms: number }
  | {
      readonly type: 'merge.compute';
      readonly task: TaskId;
      readonly fence: number;
      readonly commit: string;
      readonly message: string;
      /** A merge that has not landed; left out: the integration branch as it is. */
      readonly onto?: string;
    }
  /** `task`: the first of those that land with it. */
  | {
      readonly type: 'ref.advance';
      readonly task: TaskId;
      readonly from: string;
      readonly to: string;
    }
  /** Ends every thread and process of the run, proves that they are gone, then reports `stopped`. */
  | {
      readonly type: 'halt';
      readonly graceMs: number /** First so long, or until the next `halt`, for answers of models; then an ordinary one. */;
      readonly forAnswers?: boolean;
    }
  | { readonly type: 'sweep.later'; readonly ms: number }
  /** Looks at what a waiting call names, then reports `call.looked`. */
  | { readonly type: 'call.look'; readonly name: ActorName; readonly call: CallId }
  /** Into the workspace journal, for a call; then `cron.edited` is reported. */
  | {
      readonly type: 'cron.edit';
      readonly call: CallId;
      readonly edit: ActorCronEdit;
    }
  /** Looks at the jobs of the run, then reports `jobs.due`. */
  | { readonly type: 'jobs.later'; readonly ms: number }
  | { readonly type: 'asks.later'; readonly ms: number }
  | { readonly type: 'outlet.later'; readonly ms: number }
  /** Into the workspace journal; the same grant twice is one. */
  | { readonly type: 'grant.keep'; readonly grant: Grant }
  | { readonly type: 'grant.used'; readonly id: string; readonly at: string }
  | { readonly type: 'mail.later'; readonly name: ActorName; readonly ms: number }
  | { readonly type: 'hooks.run'; readonly work: HookWork }
  /** Of one call; its outcome does not matter any more. */
  | { readonly type: 'hooks.cancel'; readonly id: string };

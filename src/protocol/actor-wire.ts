/**
 * What crosses between the supervisor and an actor's thread. Requests go up as JSON strings, batched per tick; replies
 * and pushes come down the same way. The control port (Comlink) starts, interrupts and stops an actor.
 */

import type { ErrorShape } from '../kernel/errors.ts';
import type { ActorName, CallId, TaskId } from '../kernel/ids.ts';
import type { Envelope } from './envelope.ts';
import type { PolicySnapshot } from './policy.ts';
import type { FailureData } from './provider.ts';
import type { ActorKind } from './record.ts';
import type { MailItem, SessionEntry } from './session.ts';
import type { AgentProfile, Limits, MemoryPlace, SkillFile, TeamPermissions } from './team.ts';
import type { Rate, Usage } from './usage.ts';

/** Where an actor works: the tree of its task, or the read-only view of the integration branch. */
export interface Workplace {
  readonly task: TaskId | null;
  /** Absolute path of the tree's root. */
  readonly root: string;
  readonly writable: boolean;
  /** Sequence of the claim; every effect on the task carries it. */
  readonly fence: number;
  /** Folders that the task is about, relative to the root. */
  readonly near?: readonly string[];
}

/** All that a thread needs to run one actor; plain data. */
export interface ActorStart {
  readonly run: string;
  readonly name: ActorName;
  readonly kind: ActorKind;
  readonly incarnation: number;
  readonly epoch: number;
  readonly profile: AgentProfile;
  /** Resolved `provider/model`. */
  readonly model: string;
  /** Text of the script when the model is `scripted/…`, by model reference. */
  readonly scripts: Readonly<Record<string, string>>;
  /** What its requests begin with, the same for all of its profile. */
  readonly system: string;
  /** What follows it and is this actor's alone; left out: nothing. */
  readonly systemOwn?: string;
  readonly tools: readonly string[];
  /** Those that it may load; left out: none. */
  readonly skills?: readonly SkillFile[];
  readonly limits: Limits;
  readonly permissions: TeamPermissions & {
    readonly attended: boolean;
    /** Home of the person, for what lies there; unset: not known. */
    readonly home?: string | undefined;
    /** Path of the actor, such as `run/lead/ada`; unset: its name. */
    readonly path?: string | undefined;
    readonly snapshot?: PolicySnapshot | undefined;
    /** A sandbox holds the commands of this run. */
    readonly sandboxed?: boolean | undefined;
    /** Tools that only read, for which hooks want to be asked all the same. */
    readonly hooked?: readonly string[] | undefined;
  };
  /** Calls of its last incarnation that wait for a person, or whose answer has not reached it: they are made again. */
  readonly asked?: readonly CallId[];
  /** What hooks made of the inputs of calls that may be open. */
  readonly rewritten?: readonly (readonly [CallId, unknown])[];
  readonly journalDirectory: string;
  readonly outputsDirectory: string;
  /** What agents noted in earlier runs. */
  readonly notesFile?: string;
  /** Files of the person with patterns of what searches leave out besides `.gitignore`, the weakest first. */
  readonly ignoreFiles?: readonly string[];
  /** What people wrote to be remembered. */
  readonly memory?: readonly MemoryPlace[];
  readonly workplace: Workplace | null;
  /** Of a subagent: its parent, when that one waits for the answer and does nothing meanwhile. */
  readonly awaitedBy?: ActorName;
  /** A subagent's one task. */
  readonly prompt: string | null;
  /** Its transcript is read from the journal up to here. */
  /** Of its thread; left out: as Node has it. */
  readonly heapMb?: number;
  readonly upToSeq: number;
  /** Where trees and the checkout lie, for what is told apart from run to run. */
  readonly places?: { readonly trees: string; readonly workspace: string };
  /** Files of recorded answers beside the journal, by model reference. */
  readonly cassettes?: Readonly<Record<string, string>>;
  /** And from here on: what is older is that of an earlier life of its name. */
  readonly fromSeq?: number;
}

/**
 * A committed answer: the model's content with the mail that its request contained. Or a compaction, which is an answer
 * that took nothing in: one entry, and what it cost.
 */
export interface AnswerStep {
  readonly type: 'answer';
  readonly took: readonly number[];
  /** A `mail` entry for what was taken in, if any, then the `answer` entry; or a `compaction`. */
  readonly entries: readonly SessionEntry[];
  readonly usage: Usage;
  /** What was put aside for it. */
  readonly reservation?: string;
}

/** May this request go out to this model? Answered when it may: `granted`; `held` when others can stand in; or `spent`. */
export interface ReserveRequest {
  readonly type: 'reserve';
  /** Of this request, unique in the run. */
  readonly id: string;
  /** `provider/model`. */
  readonly model: string;
  readonly task: TaskId | null;
  /** Tokens; an estimate that is rather too large. */
  readonly input: number;
  readonly maxTokens: number;
  /** Null: nobody knows, or it costs nothing. */
  readonly rate: Rate | null;
  /** Answers since the task (or the last letter) began, with this one; 0: it is none of these. */
  readonly turn: number;
  /** No other model could be asked: it waits for this one. */
  readonly patient: boolean;
  /** Names the beginning that it shares with its siblings, where the provider keeps such; left out: none. */
  readonly prefix?: string;
}

/** The request has ended without an answer. */
export interface SettleRequest {
  readonly type: 'settle';
  readonly id: string;
  readonly model: string;
  readonly task: TaskId | null;
  readonly usage: Usage;
  /** The provider wants to be left alone, by all: for a moment, or until the quota is there again. */
  readonly limited?:
    | { readonly kind: 'rate'; readonly ms: number }
    | { readonly kind: 'quota'; readonly resetAt: string | null; readonly text: string }
    /** It has failed again and again, for so long, for a reason that passes. */
    | { readonly kind: 'down'; readonly forMs: number; readonly text: string };
}

/** The result of a call that the thread ran itself (file tools), or that was never run (refused, invalid, interrupted). */
export interface ResultStep {
  readonly type: 'result';
  readonly entries: readonly SessionEntry[];
}

/** What a live fragment is: text of the answer, a change of activity, or that what was shown is void. */
export type LiveKind = 'text' | 'thinking' | 'tooling' | 'reset';

export type ActorRequest =
  | AnswerStep
  | ResultStep
  | ReserveRequest
  | SettleRequest
  /** The answer to a request that others wait for has begun. */
  | { readonly type: 'begun'; readonly id: string }
  /** May this mutating file call run? Judged and recorded before it runs (P, write-ahead). */
  | {
      readonly type: 'permit';
      readonly call: CallId;
      readonly tool: string;
      readonly input: unknown;
    }
  /** A call that the supervisor runs; it commits the result step itself and returns it. */
  | { readonly type: 'act'; readonly call: CallId; readonly tool: string; readonly input: unknown }
  /** The team and its tasks now, in words: what a compacted conversation has to know anew. Not recorded. */
  | { readonly type: 'team' }
  /** These mailbox positions are in the request that goes out now: delivered. */
  | { readonly type: 'delivered'; readonly n: readonly number[] }
  /** Nothing to do: no open call, the last answer asked for nothing. */
  | { readonly type: 'idle'; readonly why: 'end' | 'length' | 'refusal' }
  /** The agent cannot go on (provider error, no matching script turn, turn limit): the attempt ends. */
  | {
      readonly type: 'stuck';
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
      /** Of `providers/quota`: when it is there again. */
      readonly data?: FailureData;
    }
  /** A fragment for those who watch; never recorded. */
  | {
      readonly type: 'live';
      /** `reset`: what was shown of this answer is void, it is asked for again; `data` says why. */
      readonly event: LiveKind;
      readonly data: string;
    };

export type ActorReply =
  | { readonly type: 'committed'; readonly seq: number }
  /** `input`: what a hook made of it, to be run instead. */
  | { readonly type: 'permitted'; readonly input?: unknown }
  | { readonly type: 'refused'; readonly reason: string }
  | {
      readonly type: 'acted';
      readonly result: Extract<SessionEntry, { type: 'result' }>;
      readonly workplace?: Workplace;
    }
  /** `gaveUp`: of `stuck`: mailbox positions that are dead letters now, until they are given again. */
  | { readonly type: 'noted'; readonly gaveUp?: readonly number[] }
  /** The request may go out, for an answer of so many tokens; within `spreadMs`, so that not all go at once. */
  | {
      readonly type: 'granted';
      readonly maxTokens: number;
      readonly spreadMs?: number;
      /** Others wait until its answer begins: that is to be told. */
      readonly ahead?: true;
    }
  | { readonly type: 'held'; readonly ms: number; readonly text: string }
  | { readonly type: 'spent'; readonly scope: 'task' | 'actor'; readonly text: string }
  | { readonly type: 'team'; readonly text: string }
  | { readonly type: 'failed'; readonly error: ErrorShape };

/** Thread to supervisor. `id` pairs a request with its reply. */
export interface Upward {
  readonly id: number;
  readonly request: ActorRequest;
}

/** Supervisor to thread. */
export type Downward =
  | { readonly type: 'reply'; readonly id: number; readonly reply: ActorReply }
  /** New mail, and the workplace that it belongs to when that changed. */
  | {
      readonly type: 'mail';
      readonly envelopes: readonly Envelope[];
      readonly workplace?: Workplace;
    }
  /** The rules have changed: what the thread decides by itself is decided by these from now on. */
  | { readonly type: 'rules'; readonly permissions: ActorStart['permissions'] }
  /** The user wants the conversation compacted at the next boundary. */
  | { readonly type: 'compact'; readonly focus: string | null };

/** How a subagent's job ended, as its pool sees it (error codes do not survive a thread, so it is a value). */
export type JobOutcome =
  | { readonly kind: 'finished'; readonly text: string }
  | { readonly kind: 'stuck'; readonly code: string; readonly message: string };

export function mailItem(envelope: Envelope): MailItem {
  return {
    n: envelope.n,
    id: envelope.id,
    from: envelope.from,
    type: envelope.type,
    ...(envelope.task === undefined ? {} : { task: envelope.task }),
    ...(envelope.lane === 'normal' ? {} : { lane: envelope.lane }),
    text: envelope.body.text,
    ...(envelope.body.blob === undefined || envelope.body.bytes === undefined
      ? {}
      : { blob: envelope.body.blob, bytes: envelope.body.bytes }),
  };
}

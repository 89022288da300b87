/**
 * An actor's transcript: entries that step records carry. A request to a provider is built from them by a pure function,
 * so the transcript never holds anything twice and never has to be rewritten.
 */
import type { ActorName, CallId, EnvelopeId, TaskId } from '../kernel/ids.ts';
import type { EnvelopeType, Lane } from './envelope.ts';
import type { PayloadRef } from './payload.ts';
import type { Usage } from './usage.ts';

/** In a record `text` and `input` are heads when there is a reference: to the text, to the input as JSON (M8). */
export type ContentBlock =
  | ({ readonly type: 'text'; readonly text: string } & Partial<PayloadRef>)
  | ({
      readonly type: 'call';
      readonly id: CallId;
      readonly name: string;
      readonly input: unknown;
    } & Partial<PayloadRef>);

export type StopReason = 'end' | 'calls' | 'length' | 'refusal' | 'aborted';

export type Interruption = 'crash' | 'mail';

/** With a reference: `text` is whole in a conversation, and its head in a record. */
export interface MailItem extends Partial<PayloadRef> {
  readonly n: number;
  readonly id: EnvelopeId;
  readonly from: ActorName;
  readonly type: EnvelopeType;
  readonly task?: TaskId;
  /** Left out for `normal`. */
  readonly lane?: Lane;
  readonly text: string;
}

export interface TodoItem {
  readonly text: string;
  readonly state: 'open' | 'doing' | 'done';
}

/** Why a conversation was compacted: it neared the model's window, it was longer than the model takes, or somebody asked. */
export type CompactionCause = 'threshold' | 'overflow' | 'asked';

/**
 * From here on requests begin at this entry: kept letters, the summary, and the newest turns as they were. Nothing that
 * was recorded is changed.
 */
export interface CompactionEntry {
  readonly type: 'compaction';
  readonly cause: CompactionCause;
  /** What was to be kept above all, in the words of the one who asked. */
  readonly focus?: string;
  /** Whose summary it is: the model's, or one made of the turns themselves because the model had none to give. */
  readonly by: 'model' | 'digest';
  readonly summary: string;
  /** The team and its tasks at this moment, in words. */
  readonly team?: string;
  /** Answers that the summary stands for. */
  readonly turns: number;
  /** Sequence of the record with the first turn that is kept as it was; null: none is. */
  readonly keptFrom: number | null;
  /** Mailbox positions of older letters that are kept whole. */
  readonly letters: readonly number[];
  /** Results of kept turns of which head and tail are shown; the whole is in `output`. */
  readonly cut: readonly { readonly call: CallId; readonly output: string }[];
  /** Tokens of the next request, before and after. */
  readonly before: number;
  readonly after: number;
  /** The model that it was made for, and its window as known then. */
  readonly model: string;
  readonly window: number;
  readonly task: TaskId | null;
  /** Of the request for the summary. */
  readonly usage: Usage;
}

/**
 * By what a request is known again. Its messages are in the transcript; the words round them are here, when they changed
 * since the actor's last answer.
 */
export interface RequestMark {
  /** Of what is new in it, without what varies from run to run (`normalText`). */
  readonly digest: string;
  /** Of the system prompt and the tools. */
  readonly prompt: string;
  readonly system?: string;
  readonly tools?: readonly string[];
}

export type SessionEntry =
  /** Mail taken into the conversation: user content of the next request. */
  | { readonly type: 'mail'; readonly items: readonly MailItem[] }
  | {
      readonly type: 'answer';
      readonly task: TaskId | null;
      readonly model: string;
      readonly content: readonly ContentBlock[];
      readonly stop: StopReason;
      readonly usage: Usage;
      /** Opaque to all but the provider that made it. */
      readonly meta?: Readonly<Record<string, unknown>>;
      /** What was asked; left out by older runs. */
      readonly request?: RequestMark;
    }
  | ({
      readonly type: 'result';
      readonly call: CallId;
      readonly tool: string;
      readonly ok: boolean;
      /** With a reference: whole in a conversation, its head in a record. */
      readonly text: string;
      /** Output file that holds the whole text, when `text` is a part of it. */
      readonly output?: string;
      /** The call did not run to its end: closed after a crash or a stop, or cut by interrupt mail. */
      readonly interrupted?: Interruption;
    } & Partial<PayloadRef>)
  | CompactionEntry;

/** An entry with its place: sequence of its record and index in it. */
export interface PlacedEntry {
  readonly seq: number;
  readonly at: string;
  readonly entry: SessionEntry;
}

/**
 * One protocol for every model API. A provider turns a request into a stream of events; once the stream has started it
 * does not throw, it ends with `end`, `error` or `aborted` (L).
 */
import type { ActorName, CallId, TaskId } from '../kernel/ids.ts';
import type { Lane } from './envelope.ts';
import type { ContentBlock, Interruption, StopReason } from './session.ts';
import type { Usage } from './usage.ts';

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the parameters. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type Message =
  | { readonly role: 'user'; readonly content: readonly UserBlock[] }
  | {
      readonly role: 'assistant';
      readonly content: readonly ContentBlock[];
      readonly meta?: Readonly<Record<string, unknown>>;
      /** What stood before it has changed since: what is bound to its place is void. */
      readonly moved?: true;
    };

export type UserBlock =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly mail?: readonly MailMark[];
      /** Of a summary: what its providers noted on the answers that it stands for, oldest first. */
      readonly answers?: readonly Readonly<Record<string, unknown>>[];
    }
  | {
      readonly type: 'result';
      readonly call: CallId;
      readonly tool: string;
      readonly ok: boolean;
      readonly text: string;
      readonly interrupted?: Interruption;
    };

/** What a text block was made of, for providers that react to mail (the scripted one). */
export interface MailMark {
  readonly from: ActorName;
  readonly type: string;
  readonly task?: TaskId;
  /** Left out for `normal`. */
  readonly lane?: Lane;
  readonly text: string;
}

export interface ProviderRequest {
  /** Without the provider's name. */
  readonly model: string;
  readonly system: string;
  /** Where in `system` what others begin with as well may end, in characters, rising; left out: nothing is shared. */
  readonly shared?: readonly number[];
  readonly tools: readonly ToolSpec[];
  /** Starts with a user message; roles alternate; every call is answered by a result. */
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  readonly actor: ActorName;
  readonly profile: string;
  readonly task: TaskId | null;
  /** Left out: the next answer of a conversation. */
  readonly purpose?: 'summary';
}

/** What is known of a failure besides its code; all of it may be shown. */
export interface FailureData {
  /** HTTP status. */
  readonly status?: number;
  /** The provider's own id of the request. */
  readonly requestId?: string;
  /** How long the provider wants to be left alone. */
  readonly retryAfterMs?: number;
  /** When a used-up quota is there again, ISO 8601; left out when nobody knows. */
  readonly resetAt?: string;
  /** It never reached the provider, so it has cost nothing. */
  readonly unsent?: true;
}

export type ProviderEvent =
  | { readonly type: 'text'; readonly delta: string }
  /** What the model thinks, for those who watch; it is not part of the content. */
  | { readonly type: 'thinking'; readonly delta: string }
  | { readonly type: 'call'; readonly id: CallId; readonly name: string }
  | {
      readonly type: 'end';
      readonly content: readonly ContentBlock[];
      readonly stop: StopReason;
      readonly usage: Usage;
      readonly meta?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'error';
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
      /** It may pass by itself: the same request may be sent again. */
      readonly retryable: boolean;
      readonly data?: FailureData;
    }
  | { readonly type: 'aborted' };

export interface Provider {
  readonly name: string;
  /** It keeps the beginning of a request for those that begin alike, from the moment on that the answer begins. */
  readonly keepsPrefixes?: boolean;
  stream(request: ProviderRequest, signal: AbortSignal): AsyncIterable<ProviderEvent>;
  /** Tokens of the request as the provider counts them; rejects when it can not tell. Left out: it has no such thing. */
  countTokens?(request: ProviderRequest, signal: AbortSignal): Promise<number>;
}

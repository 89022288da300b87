/**
 * A recorded run as it is played again: a header, then the transcripts of its actors, one entry a line. What only people
 * said and what the runtime chose is in the header; the rest are answers, the mail that they took in, and results.
 */
import type { ActorName } from '../kernel/ids.ts';
import type { GrantScope } from './ask.ts';
import type { OrderedFact } from './replay-plan.ts';
import type { MailItem, SessionEntry } from './session.ts';
import type { RunFile } from './team.ts';

/** What people said to the run. */
export interface RecordedWords {
  readonly mail: readonly { readonly to: ActorName; readonly text: string }[];
  /** By the call that waited. */
  readonly asks: Readonly<
    Record<
      string,
      {
        readonly effect: 'allow' | 'deny';
        readonly scope: GrantScope;
        readonly reason: string | null;
      }
    >
  >;
  /** By who proposed it and the how manieth of its proposals it is: `ada 1`. */
  readonly plans: Readonly<
    Record<string, { readonly approve: boolean; readonly feedback: string }>
  >;
}

export interface CassetteHeader {
  readonly v: 1;
  readonly cassette: string;
  /** How the run ended; null: it was interrupted, and the recording stops there. */
  readonly state: string | null;
  readonly baseCommit: string;
  /** Of the integration branch at its end; null: it was gone. */
  readonly tree: string | null;
  readonly createdAt: string;
  readonly redacted: boolean;
  readonly places: {
    readonly trees: string;
    readonly workspace: string;
    readonly home: string | null;
  };
  /** Model of each profile, for what depends on it; `*`: the team's. */
  readonly models: Readonly<Record<string, string>>;
  readonly answers: number;
  readonly actors: number;
  readonly order: readonly OrderedFact[];
  readonly words: RecordedWords;
  readonly run: RunFile;
}

export type CassetteLine =
  | {
      readonly a: ActorName;
      readonly life: number;
      readonly seq: number;
      readonly entry: SessionEntry;
    }
  /** A request that got no answer: why, and the letters that it left unanswered. */
  | {
      readonly a: ActorName;
      readonly life: number;
      readonly seq: number;
      readonly failed: string;
      readonly took: readonly Pick<MailItem, 'from' | 'type' | 'task' | 'text'>[];
    };

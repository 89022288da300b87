/**
 * What a running supervisor offers to those who are connected to it. The socket (`ipc`) and later HTTP serve exactly
 * this; reading needs none of it, since the journals can be read beside their writer.
 */
import type { EventSubscription } from '../events/index.ts';
import type { AskRow, GrantRow } from '../protocol/ask.ts';
import type { CronEdit, CronEditResult } from '../protocol/cron.ts';
import type { TroupeEvent } from '../protocol/event.ts';
import type { ActorRow, PlanRow, RunRow, TaskRow, WhyRow } from '../protocol/shapes.ts';
import type {
  AnswerAskParams,
  AnswerAskResult,
  CompactParams,
  CompactResult,
  DecidePlanParams,
  DecidePlanResult,
  DownParams,
  DownResult,
  ResumeRunParams,
  RunResult,
  SendParams,
  SendResult,
  SettleParams,
  SettleResult,
  StartRunParams,
  StartRunResult,
  StatusResult,
  StopActorParams,
  StopParams,
  SubscribeParams,
  TrustParams,
  WhyParams,
} from '../protocol/wire.ts';
import type { Desk } from './desk.ts';

/** A `run` that is left out means the one that the supervisor holds; `control/no-run` when it holds none. */
export interface LiveControl {
  status(): StatusResult;
  runs(): Promise<readonly RunRow[]>;
  tasks(run: string | undefined): Promise<readonly TaskRow[]>;
  actors(run: string | undefined): Promise<readonly ActorRow[]>;
  /** What does not move, why, and what to type; with `about` only the task or actor of this name. */
  why(params: WhyParams): Promise<readonly WhyRow[]>;
  send(params: SendParams): Promise<SendResult>;
  settleDead(params: SettleParams): Promise<SettleResult>;
  trust(words: TrustParams['words']): Promise<void>;
  compact(params: CompactParams): Promise<CompactResult>;
  plans(run: string | undefined): Promise<readonly PlanRow[]>;
  decidePlan(params: DecidePlanParams): Promise<DecidePlanResult>;
  /** Without `run`: of all runs that are held. */
  approvals(run: string | undefined): Promise<readonly AskRow[]>;
  answerAsk(params: AnswerAskParams): Promise<AnswerAskResult>;
  grants(): Promise<readonly GrantRow[]>;
  revokeGrant(params: {
    readonly id: string;
    readonly by: string;
  }): Promise<{ readonly id: string }>;
  /** Of a person. Rejects with `cron/…`. */
  editCron(edit: CronEdit): Promise<CronEditResult>;
  run(run: string | undefined): Promise<RunResult>;
  /** Only of a supervisor that is up; another one refuses with `control/held`. */
  startRun(params: StartRunParams): Promise<StartRunResult>;
  resumeRun(params: ResumeRunParams): Promise<StartRunResult>;
  /** When it is over or not going on; of one that is not held, what its journal says. */
  waitRun(run: string): Promise<RunRow>;
  /** Only of a supervisor that is up: all runs are stopped, and then the process ends. */
  down(params: DownParams): Promise<DownResult>;
  stopRun(params: StopParams): Promise<RunRow>;
  stopActor(params: StopActorParams): Promise<ActorRow>;
  /** Reading, and what a person asks for in the repository; of any run, held or not. */
  readonly desk: Desk;
  /**
   * What was missed since a cursor, then what happens; bounded, with a gap marker for who is slow. `first` comes before
   * what happens: what somebody who delivers to many could not deliver here.
   */
  subscribe(params: SubscribeParams, first?: readonly TroupeEvent[]): Subscribed;
  /** Each event from now on, as it happens, for one who delivers the same to many; ends with the returned function. */
  tap(params: SubscribeParams, take: (event: TroupeEvent) => void): () => void;
}

export interface Subscribed {
  readonly run: string;
  /** What is given comes after it. */
  readonly cursor: string;
  readonly events: EventSubscription;
}

/**
 * What a running supervisor offers to those who are connected to it. The socket (`ipc`) and later HTTP serve exactly
 * this; reading needs none of it, since the journals can be read beside their writer.
 */
import type { Cursor, TroupeEvent } from '../protocol/event.ts';
import type { ActorRow, RunRow, TaskRow } from '../protocol/shapes.ts';
import type {
  SendParams,
  SendResult,
  StatusResult,
  StopActorParams,
  StopParams,
} from '../protocol/wire.ts';

export interface EventFeed {
  /** Durable events after `from` in order, up to the end of the journal as it is when the end is reached. */
  replay(run: string, from: Cursor): AsyncIterable<TroupeEvent>;
  /** Each event from now on: durable ones in order, once each; live fragments with `durable` false. */
  listen(run: string, listener: (event: TroupeEvent, durable: boolean) => void): () => void;
}

/** A `run` that is left out means the one that the supervisor holds; `control/no-run` when it holds none. */
export interface LiveControl {
  status(): StatusResult;
  runs(): Promise<readonly RunRow[]>;
  tasks(run: string | undefined): Promise<readonly TaskRow[]>;
  actors(run: string | undefined): Promise<readonly ActorRow[]>;
  send(params: SendParams): Promise<SendResult>;
  stopRun(params: StopParams): Promise<RunRow>;
  stopActor(params: StopActorParams): Promise<ActorRow>;
  /** The id of the run meant; throws when there is none. */
  runOf(run: string | undefined): string;
  readonly events: EventFeed;
}

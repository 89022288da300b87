/**
 * Takes up the runs that were going on when the supervisor before this one died. The plan is `control`'s; here it is
 * carried out.
 */
import {
  type HeldRun,
  letGo,
  planTakeUp,
  readHeld,
  TAKE_UP,
  type Workspace,
} from '../control/index.ts';
import { type Clock, ensureError, isoTime, type Logger } from '../kernel/index.ts';
import type { LeftRun } from '../protocol/wire.ts';
import type { Supervisor } from '../supervisor/index.ts';

export class TakeUp {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #left = new Map<string, LeftRun>();
  readonly #over = new AbortController();
  /** A person went on with them meanwhile. */
  readonly #taken = new Set<string>();

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  left(): LeftRun[] {
    return [...this.#left.values()];
  }

  forget(run: string): void {
    this.#left.delete(run);
    this.#taken.add(run);
  }

  stop(): void {
    this.#over.abort();
  }

  /** Resolves when what is not suspected goes on, or was tried once; the rest follows by itself. */
  async begin(supervisor: Supervisor, workspace: Workspace): Promise<void> {
    const { held, left } = await readHeld(workspace);
    for (const one of left) this.#left.set(one.run, one);
    const plan = planTakeUp(held, this.#clock.now());
    for (const { run, tries } of plan.left) {
      const text = `its supervisor died ${tries - 1} times in a row soon after it was taken up`;
      await this.#leave(supervisor, run, text);
    }
    const again: HeldRun[] = [];
    for (const one of plan.now) {
      const error = await this.#try(supervisor, one);
      if (error !== null) again.push(one);
    }
    void this.#rest(supervisor, again, plan.oneByOne).catch((error: unknown) => {
      if (!this.#over.signal.aborted) this.#logger.log('error', 'taking up runs', { error });
    });
  }

  async #rest(
    supervisor: Supervisor,
    again: readonly HeldRun[],
    suspects: readonly HeldRun[],
  ): Promise<void> {
    await Promise.all(again.map((one) => this.#insist(supervisor, one)));
    for (const one of suspects) {
      if (!(await this.#insist(supervisor, one))) continue;
      await this.#clock.sleep(TAKE_UP.probationMs, this.#over.signal);
      await supervisor.say({ what: 'run.going', run: one.run });
    }
  }

  /** Tries, with pauses; false: it is left alone. */
  async #insist(supervisor: Supervisor, one: HeldRun): Promise<boolean> {
    let error: Error | null = null;
    for (const pause of TAKE_UP.pausesMs) {
      await this.#clock.sleep(pause, this.#over.signal);
      if (this.#taken.has(one.run)) return false;
      error = await this.#try(supervisor, one);
      if (error === null) return true;
    }
    await this.#leave(supervisor, one.run, `it can not be taken up: ${error?.message ?? ''}`);
    return false;
  }

  async #try(supervisor: Supervisor, { run, tries }: HeldRun): Promise<Error | null> {
    try {
      await supervisor.resumeRun(run, undefined, tries);
      letGo(supervisor, run);
      this.#logger.log('info', 'a run is taken up again', { run, tries });
      return null;
    } catch (thrown) {
      this.#logger.log('warn', 'a run can not be taken up', { run, error: ensureError(thrown) });
      return ensureError(thrown);
    }
  }

  async #leave(supervisor: Supervisor, run: string, reason: string): Promise<void> {
    this.#logger.log('error', 'a run is left alone', { run, reason });
    this.#left.set(run, { run, reason, at: isoTime(this.#clock.now()) });
    await supervisor.say({ what: 'run.left', run, text: reason });
  }
}

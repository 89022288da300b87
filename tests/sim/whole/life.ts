/** What the parts of one simulated process share: whether it is still alive, what goes wrong in it, and who watches. */
import type { Outside } from '../permissions/queue-world.ts';
import type { Checks } from './checks.ts';
import type { SimRepo } from './sim-repo.ts';

/** What is there whatever process runs. */
export interface Places extends Outside {
  readonly repo: SimRepo;
}

/** Shares of what is done that goes wrong. */
export interface Trouble {
  git: number;
  /** Takes seconds. */
  slow: number;
  intruder: number;
  /** Commands and gates that fail. */
  fails: number;
  /** Answers of models that end with an error. */
  model: number;
}

export const NO_TROUBLE: Trouble = { git: 0, slow: 0, intruder: 0, fails: 0, model: 0 };

export class Life {
  readonly outside: Places;
  readonly checks: Checks;
  trouble: Trouble;
  #dead = false;

  constructor(outside: Places, checks: Checks, trouble: Trouble) {
    this.outside = outside;
    this.checks = checks;
    this.trouble = trouble;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** `kill -9`, or a power cut: nothing that it had begun goes on. */
  end(): void {
    this.#dead = true;
  }

  /** Never settles for a dead process. */
  alive(): Promise<void> {
    return this.#dead ? new Promise(() => undefined) : Promise.resolve();
  }
}

/**
 * The model: what an actor says next is drawn from the seed. Each answer names the incarnation that gave it, and no two are
 * alike, so that one which is recorded in the wrong life, or twice, is seen.
 */
import { asCallId } from '../../../src/kernel/index.ts';
import {
  type ActorStart,
  type ContentBlock,
  NO_USAGE,
  type Provider,
  type ProviderEvent,
  type ProviderRequest,
} from '../../../src/protocol/index.ts';
import type { SeededRandom } from '../../../src/testing/seeded-random.ts';
import type { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Life } from './life.ts';

const PROGRAMS = ['alpha', 'beta', 'gamma', 'delta'];
const USAGE = { ...NO_USAGE, inputTokens: 10, outputTokens: 5 };
/** Answers on one task after which it is brought to its end. */
const TURNS_OF_TASK = 5;
const SUBAGENT_TURNS = 3;

export interface SimModelOptions {
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  /** Tells lives apart in ids. */
  readonly life: number;
  readonly names: readonly string[];
}

export class SimModel {
  /** Nobody begins anything new. */
  calm = false;
  readonly #life: Life;
  readonly #options: SimModelOptions;
  readonly #turns = new Map<string, number>();
  #count = 0;

  constructor(life: Life, options: SimModelOptions) {
    this.#life = life;
    this.#options = options;
  }

  provider(start: ActorStart): Provider {
    const stream = (request: ProviderRequest, signal: AbortSignal): AsyncIterable<ProviderEvent> =>
      this.#answer(start, request, signal);
    return { name: 'scripted', stream };
  }

  async *#answer(
    start: ActorStart,
    request: ProviderRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ProviderEvent> {
    const { clock, random } = this.#options;
    const { trouble } = this.#life;
    try {
      if (random.next() < trouble.slow) await clock.sleep(1 + random.below(40_000), signal);
      signal.throwIfAborted();
    } catch {
      yield { type: 'aborted' };
      return;
    }
    if (random.next() < trouble.model) {
      const retryable = random.next() < 0.7;
      yield { type: 'error', code: 'providers/overloaded', message: 'too many ask', retryable };
      return;
    }
    this.#count += 1;
    const mark = `${start.name}.${start.incarnation}.${this.#options.life}.${this.#count}`;
    const content = this.#content(start, request, mark);
    const stop = content.some((block) => block.type === 'call') ? 'calls' : 'end';
    yield { type: 'end', content, stop, usage: USAGE };
  }

  #content(start: ActorStart, request: ProviderRequest, mark: string): ContentBlock[] {
    const text: ContentBlock = { type: 'text', text: `says ${mark}` };
    const calls = this.#calls(start, request).map(
      ([name, input], at): ContentBlock => ({
        type: 'call',
        id: asCallId(`cal_${mark}.${at}`),
        name,
        input,
      }),
    );
    return [text, ...calls];
  }

  #calls(start: ActorStart, request: ProviderRequest): [string, unknown][] {
    const { random } = this.#options;
    const at = `${start.name}/${start.incarnation}/${request.task ?? ''}`;
    const turn = (this.#turns.get(at) ?? 0) + 1;
    this.#turns.set(at, turn);
    if (start.kind === 'subagent') {
      return turn > SUBAGENT_TURNS || this.calm || random.next() < 0.3
        ? []
        : this.#work(start, null);
    }
    if (request.task === null) return this.calm || random.next() < 0.75 ? [] : [this.#word()];
    if (this.calm || turn > TURNS_OF_TASK)
      return [...this.#last(request), ['complete_task', { summary: 'done' }]];
    const draw = random.next();
    if (draw < 0.3) return [...this.#last(request), ['complete_task', { summary: 'done' }]];
    if (draw < 0.34) return [['fail_task', { reason: 'it can not be done' }]];
    if (draw < 0.37) return [];
    return this.#work(start, request.task);
  }

  /** Most leave something in their tree. */
  #last(request: ProviderRequest): [string, unknown][] {
    const { random } = this.#options;
    if (random.next() < 0.3) return [];
    const shared = random.next() < 0.25;
    const path = shared ? 'src/shared.txt' : `src/${request.task}.txt`;
    return [['write_file', { path, content: `${request.task} ${random.below(1000)}` }]];
  }

  #work(start: ActorStart, task: string | null): [string, unknown][] {
    const { random } = this.#options;
    const calls: [string, unknown][] = [];
    for (let left = 1 + random.below(3); left > 0; left -= 1) {
      const draw = random.next();
      if (draw < 0.3)
        calls.push([
          'bash',
          {
            command: `${random.pick(PROGRAMS)} go`,
            ...(random.next() < 0.2 ? { background: true } : {}),
          },
        ]);
      else if (draw < 0.5)
        calls.push(['write_file', { path: `docs/${task ?? start.name}.txt`, content: 'x' }]);
      else if (draw < 0.75 && start.tools.includes('task')) {
        calls.push([
          'task',
          { prompt: 'look', ...(random.next() < 0.4 ? { background: true } : {}) },
        ]);
      } else calls.push(this.#word());
    }
    return calls;
  }

  #word(): [string, unknown] {
    const { random, names } = this.#options;
    const lane = random.next() < 0.2 ? 'interrupt' : 'normal';
    const to = random.pick([...names, 'user', 'nobody']);
    return ['send_message', { to, text: 'hear me', lane }];
  }
}

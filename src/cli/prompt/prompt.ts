/**
 * The question at the end of the live view, with its terminal: asks of the run come in, keys go to the model, answers go to
 * the supervisor. Keys are read while something waits, and at no other time.
 *
 * Invariant: the terminal is as it was after `close`, which also runs when the process exits by any way it can notice.
 */
import { ensureError } from '../../kernel/errors.ts';
import type { AskRow } from '../../protocol/ask.ts';
import type { TroupeEvent } from '../../protocol/event.ts';
import type { AnswerAskParams } from '../../protocol/wire.ts';
import type { Context } from '../context.ts';
import { keysOf } from '../keys.ts';
import type { RunLink } from '../run-link.ts';
import { drawPrompt } from './draw.ts';
import {
  makePrompt,
  type PromptAction,
  type PromptAnswer,
  type PromptEvent,
  type PromptSize,
  promptStep,
} from './model.ts';

export interface PromptOptions {
  readonly context: Context;
  readonly link: Pick<RunLink, 'run' | 'call'>;
  readonly sandbox: string;
  /** The input of an ask as its call has it, however large. */
  readonly wholeInput: (row: AskRow) => Promise<unknown>;
  /** Draws all again: what is shown has changed. */
  readonly changed: () => void;
}

export interface Prompt {
  /** What it shows now; empty when nothing waits. */
  lines(): readonly string[];
  /** Something happened in the run. */
  event(event: TroupeEvent): void;
  /** The terminal has another size. */
  resized(): void;
  close(): void;
}

/** After which something else may wait for a person. */
const CHANGES_QUEUE = /^(ask|grant|run)\./;
const BELL = '\u0007';

/** Null: nobody can type here, so whoever watches is told which command answers. */
export function openPrompt(options: PromptOptions): Prompt | null {
  const { context, link } = options;
  const { io } = context;
  if (!io.input.canRead()) return null;
  const size = (): PromptSize => ({ columns: io.out.columns, rows: io.out.rows });
  let state = makePrompt(size());
  let release: (() => void) | null = null;
  let closed = false;

  const step = (event: PromptEvent): void => {
    if (closed) return;
    const next = promptStep(state, event, performance.now());
    state = next.state;
    listen(state.queue.length > 0);
    for (const action of next.actions) act(action);
    options.changed();
  };
  const listen = (wanted: boolean): void => {
    if (wanted && release === null) {
      release = io.input.read((piece) => {
        for (const key of keysOf(piece)) step({ type: 'key', key });
      });
    } else if (!wanted && release !== null) {
      release();
      release = null;
    }
  };
  const failed = (id: string, thrown: unknown): void =>
    step({ type: 'answered', id, ok: false, note: ensureError(thrown).message });
  const act = (action: PromptAction): void => {
    switch (action.type) {
      case 'ring':
        return io.out.write(BELL);
      case 'load':
        options.wholeInput(action.row).then(
          (input) => step({ type: 'whole', id: action.row.id, input }),
          (thrown: unknown) => failed(action.row.id, thrown),
        );
        return;
      case 'answer': {
        const { id } = action.params;
        link.call('approvals.answer', { ...answerOf(action.params), run: link.run }).then(
          () => step({ type: 'answered', id, ok: true, note: '' }),
          (thrown: unknown) => failed(id, thrown),
        );
      }
    }
  };
  let looks = 0;
  const look = (): void => {
    looks += 1;
    const mine = looks;
    // Only what was asked for last is how it is now. Not there at the moment, or over: the next event looks again.
    const take = (rows: readonly AskRow[]): void => {
      if (mine === looks) step({ type: 'queue', rows });
    };
    link.call('approvals.list', { run: link.run }).then(take, () => undefined);
  };
  look();

  return {
    lines: () =>
      drawPrompt(state, { now: Date.now(), styles: context.styles, sandbox: options.sandbox }),
    event: ({ type }) => {
      if (CHANGES_QUEUE.test(type)) look();
    },
    resized: () => step({ type: 'size', size: size() }),
    close() {
      closed = true;
      listen(false);
    },
  };
}

/** As the wire takes it: what is not said is left out. */
function answerOf({ reason, digest, ...given }: PromptAnswer): AnswerAskParams {
  return {
    ...given,
    ...(reason === null || reason === '' ? {} : { reason }),
    ...(digest === null ? {} : { digest }),
    by: 'user',
  };
}

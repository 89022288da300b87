/**
 * Requests that wait for their answers, by id. Knows no socket, so a browser can use it too.
 *
 * Invariant I8 Every request settles: by its answer, by its deadline, or when the connection ends.
 */
import type { ErrorShape } from '../kernel/errors.ts';
import { fromErrorShape, TroupeError } from '../kernel/errors.ts';
import type { Notice } from '../protocol/wire.ts';

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface Calls {
  /** A new id, and the promise that its answer settles. */
  open(): { readonly id: number; readonly answer: Promise<unknown> };
  /** Rejects one request, for its deadline; no effect when it was answered. */
  fail(id: number, error: Error): void;
  /** One message from the other side; a notice is handed back, everything else is settled here. */
  take(message: unknown): Notice | null;
  /** Rejects all that wait and all that come. */
  end(error: Error): void;
}

export function makeCalls(): Calls {
  const waiting = new Map<number, Waiting>();
  let next = 1;
  let ended: Error | null = null;

  const settle = (id: number): Waiting | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  };

  return {
    open() {
      const id = next;
      next += 1;
      const answer = new Promise<unknown>((resolve, reject) => {
        if (ended === null) waiting.set(id, { resolve, reject });
        else reject(ended);
      });
      return { id, answer };
    },
    fail(id, error) {
      settle(id)?.reject(error);
    },
    take(message) {
      if (!isFields(message)) return null;
      if (typeof message['method'] === 'string') return asNotice(message);
      const id = message['id'];
      if (typeof id !== 'number') return null;
      const found = settle(id);
      if (message['error'] === undefined) found?.resolve(message['result']);
      else found?.reject(asError(message['error']));
      return null;
    },
    end(error) {
      ended ??= error;
      for (const one of waiting.values()) one.reject(ended);
      waiting.clear();
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Both ends are of one build (`hello` compares the protocol), so a notice is taken by its shape alone. */
function asNotice(message: Fields): Notice | null {
  const { method, params } = message;
  if (method !== 'event' || !isFields(params)) return null;
  if (typeof params['subscription'] !== 'string') return null;
  return { method, params } as unknown as Notice;
}

function asError(value: unknown): TroupeError {
  const data = isFields(value) ? value['data'] : undefined;
  if (isErrorShape(data)) return fromErrorShape(data);
  const message = isFields(value) && typeof value['message'] === 'string' ? value['message'] : '';
  return new TroupeError({ code: 'client/answer', message: `the supervisor refused: ${message}` });
}

function isErrorShape(value: unknown): value is ErrorShape {
  return (
    isFields(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string'
  );
}

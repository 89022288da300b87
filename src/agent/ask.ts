/**
 * One answer of the model: the stream is read to its end, failures that pass are tried again. Nothing of an answer
 * leaves here before it is whole.
 */
import { type Clock, ensureError } from '../kernel/index.ts';
import type {
  ContentBlock,
  Provider,
  ProviderEvent,
  ProviderRequest,
  StopReason,
  Usage,
} from '../protocol/index.ts';
import { abortable } from './interrupts.ts';
import { RETRIES_MAX, RETRY_WAIT_MS } from './limits.ts';

export interface Answer {
  readonly kind: 'answer';
  readonly content: readonly ContentBlock[];
  readonly stop: StopReason;
  readonly usage: Usage;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

export interface AskFailure {
  readonly kind: 'error';
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;
}

export type Asked = Answer | AskFailure | { readonly kind: 'aborted' };

export interface AskDeps {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly onText: (delta: string) => void;
}

/** Never rejects: an abort is `aborted`, whatever the provider does. */
export async function ask(
  deps: AskDeps,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<Asked> {
  for (let tries = 0; ; tries += 1) {
    const asked = await askOnce(deps, request, signal);
    if (asked.kind !== 'error' || !asked.retryable) return asked;
    if (tries >= RETRIES_MAX) {
      return { ...asked, message: `${asked.message} (given up after ${tries + 1} tries)` };
    }
    try {
      await deps.clock.sleep(RETRY_WAIT_MS * 2 ** tries, signal);
    } catch {
      return { kind: 'aborted' };
    }
  }
}

async function askOnce(
  deps: AskDeps,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<Asked> {
  if (signal.aborted) return { kind: 'aborted' };
  let events: AsyncIterator<ProviderEvent> | null = null;
  try {
    events = deps.provider.stream(request, signal)[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await abortable(events.next(), signal);
      if (done === true) return cut('the stream ended without an end');
      const asked = asAsked(value);
      if (asked !== null) return asked.kind === 'aborted' ? ended(signal) : asked;
      if (value.type === 'text') deps.onText(value.delta);
    }
  } catch (error) {
    if (signal.aborted) {
      if (events !== null) release(events);
      return { kind: 'aborted' };
    }
    return cut(ensureError(error).message);
  }
}

function asAsked(event: ProviderEvent): Asked | null {
  switch (event.type) {
    case 'end': {
      const { content, stop, usage, meta } = event;
      return { kind: 'answer', content, stop, usage, meta };
    }
    case 'error': {
      const { code, message, hint, retryable } = event;
      return { kind: 'error', code, message, hint, retryable };
    }
    case 'aborted':
      return { kind: 'aborted' };
    case 'text':
    case 'call':
      return null;
  }
}

/** A provider that says `aborted` on its own has failed. */
function ended(signal: AbortSignal): Asked {
  return signal.aborted ? { kind: 'aborted' } : cut('the provider aborted the stream');
}

function cut(message: string): AskFailure {
  const code = 'agent/stream-cut';
  return { kind: 'error', code, message, hint: undefined, retryable: true };
}

/** Nobody waits for a provider that does not listen. */
function release(events: AsyncIterator<ProviderEvent>): void {
  const ending = events.return?.();
  ending?.catch(() => undefined);
}
